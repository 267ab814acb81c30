package builtin_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const editingIn = "COLONY_TEST_EDITING"

// TestEditingChild is the process that TestGivenKills kills.
func TestEditingChild(t *testing.T) {
	dir := os.Getenv(editingIn)
	if dir == "" {
		t.Skip("it is started by another test")
	}
	w := newWorld(t)
	w.env.Root, w.cwd = dir, dir
	w.ok("read", args{"path": "f", "from": 1})
	at := strings.Index(w.get("f"), "<") + 1
	for i := int(w.get("f")[at] - '0'); ; i = (i + 1) % 10 {
		w.ok("edit", args{"path": "f", "old": fmt.Sprintf("<%d>", i), "new": fmt.Sprintf("<%d>", (i+1)%10)})
	}
}

// ED07, contract 40: a process killed at any moment of its edits of a large file leaves it as it was before one of them or
// after it, and so does every reader find it; what else it leaves are files that colony sweeps.
func TestGivenKills(t *testing.T) {
	var cases []struct {
		Name                string
		Bytes, Kills, Short int
	}
	load(t, "testdata/killed.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { killedWhileEditing(t, c.Bytes, times(c.Short, c.Kills)) })
	}
}

func killedWhileEditing(t *testing.T, size, kills int) {
	dir, scratch := t.TempDir(), t.TempDir() // the child cannot clear away what it made
	file := filepath.Join(dir, "f")
	line, piece := "<0>\n", "0123456789abcde\n"
	rest := strings.Repeat(piece, (size-len(line))/len(piece)+1)
	if err := os.WriteFile(file, []byte(line+rest), 0o644); err != nil {
		t.Fatal(err)
	}
	whole := func() byte {
		data, err := os.ReadFile(file)
		if err != nil || len(data) != len(line)+len(rest) || !bytes.HasSuffix(data, []byte(rest)) || data[0] != '<' || data[1] < '0' || data[1] > '9' {
			t.Fatalf("a reader found %d bytes, %.20q, %v", len(data), data, err)
		}
		return data[1]
	}
	for range kills {
		child := exec.Command(os.Args[0], "-test.run", "^TestEditingChild$")
		child.Env = append(os.Environ(), editingIn+"="+dir, "TMPDIR="+scratch)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for first, late := whole(), time.Now().Add(time.Minute); whole() == first; {
			if time.Now().After(late) {
				t.Error("nothing was edited")
				break
			}
		}
		for n := rand.IntN(20); n > 0; n-- {
			whole()
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // it was killed
		whole()
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if e.Name() != "f" && !strings.HasPrefix(e.Name(), ".colony-tmp-") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}
