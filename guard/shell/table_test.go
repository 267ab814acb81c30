package shell

import "testing"

// The table is without a fault and its own examples hold.
func TestTable(t *testing.T) {
	read, faults := readTable(tableYAML)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	rows := 0
	for _, forms := range read.forms {
		for _, f := range forms {
			rows++
			for _, line := range f.Allows {
				if l := Parse(line); !l.ReadOnly() {
					t.Errorf("%s: %q is not read-only: %+v", f.Name, line, l)
				}
			}
			for _, line := range f.Asks {
				if Parse(line).ReadOnly() {
					t.Errorf("%s: %q is read-only", f.Name, line)
				}
			}
		}
	}
	t.Logf("%d rows", rows)
}

// A table with a fault allows nothing.
func TestFaultyTable(t *testing.T) {
	for _, text := range []string{"rows: [{name: ls, allows: [ls], asks: [x], flgs: -l}]", "rows: [{name: ls}]", "rows: [{name: ls, allows: [a], asks: [b], text: x}]", "x"} {
		if read, faults := readTable([]byte(text)); len(faults) == 0 || len(read.forms) > 0 {
			t.Errorf("%q: %v %v", text, read, faults)
		}
	}
}
