//go:build failpoints

package failpoint_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"colony/failpoint"
)

// TestMain is also the process that is to be ended: it hits a point three times and says so.
func TestMain(m *testing.M) {
	if os.Getenv("FAILPOINT_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	for range 3 {
		if err := failpoint.Hit("a.b.before"); err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("past\n")
	}
}

func TestKill(t *testing.T) {
	for asked, past := range map[string]int{"a.b.before": 0, "a.b.before:2": 1, "*:3": 2, "a.*:3:kill": 2, "b.*": 3, "a.b.before:4": 3} {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "FAILPOINT_TEST_CHILD=1", "COLONY_FAILPOINT="+asked)
		out, err := child.Output()
		if strings.Count(string(out), "past") != past {
			t.Errorf("%s: %q", asked, out)
		}
		var exit *exec.ExitError
		killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		if killed != (past < 3) {
			t.Errorf("%s: %v", asked, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for asked, want := range map[string]string{
		"": "....", "p.q:2:eio": ".e..", "p.q:2-3:enospc": ".ss.", "p.q:2-:eio": ".eee", "p*:1:eio": "e...", "q:1-:eio": "....",
	} {
		t.Setenv("COLONY_FAILPOINT", asked)
		got := ""
		for range 4 {
			switch err := failpoint.Hit("p.q"); {
			case err == nil:
				got += "."
			case errors.Is(err, syscall.EIO):
				got += "e"
			case errors.Is(err, syscall.ENOSPC):
				got += "s"
			}
		}
		if got != want {
			t.Errorf("%q: %s, not %s", asked, got, want)
		}
	}
}

func TestUnreadable(t *testing.T) {
	for _, asked := range []string{"a:", "a:0", "a:x", "a:3-2", "a:1:no", "a:1-x"} {
		t.Setenv("COLONY_FAILPOINT", asked)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken", asked)
				}
			}()
			failpoint.Hit("a")
		}()
	}
}

func TestTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	t.Setenv("COLONY_FAILPOINT_TRACE", path)
	failpoint.Hit("a")
	failpoint.Hit("b")
	if text, err := os.ReadFile(path); err != nil || string(text) != "a\nb\n" {
		t.Errorf("%q, %v", text, err)
	}
}
