package shell

import "testing"

// The table's own examples hold.
func TestTable(t *testing.T) {
	for _, f := range table {
		if len(f.yes) == 0 || len(f.not) == 0 {
			t.Errorf("%s: no examples", f.name)
		}
		for _, line := range f.yes {
			if l := Parse(line); !l.ReadOnly() {
				t.Errorf("%s: %q is not read-only: %+v", f.name, line, l)
			}
		}
		for _, line := range f.not {
			if Parse(line).ReadOnly() {
				t.Errorf("%s: %q is read-only", f.name, line)
			}
		}
	}
}
