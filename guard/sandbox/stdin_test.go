package sandbox_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// A job that is sent something reads it, at every level, also while a helper is kept ready; one that is not reads nothing.
func TestJobReadsWhatItIsSent(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		for _, level := range []string{"workspace", "read-only", "off"} {
			s := w.open(t, level)
			for i := range 4 {
				r, in, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				j := w.sh("cat")
				if i%2 == 0 {
					j.Stdin = r
				}
				var out bytes.Buffer
				j.Stdout = &out
				_, wrote := io.WriteString(in, "hello\n")
				in.Close()
				exit, err := s.Run(t.Context(), j)
				r.Close()
				if want := map[bool]string{true: "hello\n"}[i%2 == 0]; wrote != nil || err != nil || exit.Code != 0 || out.String() != want {
					t.Errorf("%s: %v %+v %v: %q, want %q", level, wrote, exit, err, out.String(), want)
				}
			}
		}
	})
}

// MC08: a bare job has the plainest variables, and its own.
func TestBareJobHasLittle(t *testing.T) {
	t.Setenv("USER", "ada")
	each(t, func(t *testing.T, w world) {
		for _, level := range []string{"workspace", "off"} {
			var out bytes.Buffer
			j := w.sh("")
			j.Argv, j.Env, j.Bare, j.Stdout = []string{"env"}, []string{"OWN=1"}, true, &out
			if _, err := w.open(t, level).Run(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				switch name, _, _ := strings.Cut(line, "="); name {
				case "PATH", "HOME", "TMPDIR", "LANG", "TERM", "OWN":
				default:
					t.Errorf("%s: it has %s", level, line)
				}
			}
			if !strings.Contains(out.String(), "OWN=1\n") || !strings.Contains(out.String(), "HOME=") {
				t.Errorf("%s: %q", level, out.String())
			}
		}
	})
}
