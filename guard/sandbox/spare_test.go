package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"colony/guard/sandbox"
)

// children are the helpers that this process keeps now.
func children(t *testing.T) (pids []int) {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for word := range strings.FieldsSeq(string(data)) {
			line, err := os.ReadFile("/proc/" + word + "/cmdline")
			if err == nil && strings.HasPrefix(string(line), "colony: sandbox helper") {
				var pid int
				if _, err := fmt.Sscan(word, &pid); err != nil {
					t.Fatal(err)
				}
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// TestSpareDies: a helper that is kept ready and is ended by somebody is not the end of the next job. law 10
func TestSpareDies(t *testing.T) {
	w := newWorld(t)
	before := children(t) // of sandboxes that other tests did not close
	w.by = []string{sandbox.Namespaces}
	s := w.open(t, "workspace")
	for range 2 {
		run(t, s, w.sh(":"))
	}
	ours := func() []int {
		return slices.DeleteFunc(children(t), func(pid int) bool { return slices.Contains(before, pid) })
	}
	for range 3 {
		kept := ours()
		if len(kept) != 1 {
			t.Fatalf("%d helpers are kept, want 1", len(kept))
		}
		if err := syscall.Kill(kept[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if exit, out := run(t, s, w.sh("echo alive")); exit.Code != 0 || out != "alive\n" {
			t.Fatalf("exit %+v, output %q", exit, out)
		}
	}
	s.Close()
	if left := ours(); len(left) != 0 {
		t.Fatalf("helpers %v are left after Close", left)
	}
}

// TestStreams: the streams of a job come in their order where they go to one writer, and apart where they go to two.
func TestStreams(t *testing.T) {
	each(t, testStreams)
}

func testStreams(t *testing.T, w world) {
	s := w.open(t, "workspace")
	line := "for i in 1 2 3 4 5 6 7 8; do echo o$i; echo e$i >&2; done"
	if _, out := run(t, s, w.sh(line)); out != "o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\no6\ne6\no7\ne7\no8\ne8\n" {
		t.Fatalf("one writer got %q", out)
	}
	var out, errs bytes.Buffer
	j := w.sh("echo o; echo e >&2")
	j.Stdout, j.Stderr = &out, &errs
	if _, err := s.Run(t.Context(), j); err != nil || out.String() != "o\n" || errs.String() != "e\n" {
		t.Fatalf("two writers got %q and %q: %v", out.String(), errs.String(), err)
	}
}
