package sandbox_test

import (
	"testing"

	"colony/guard/sandbox"
)

// Without HOME the account's home is the one whose secrets are hidden.
func TestHomeOfTheAccount(t *testing.T) {
	w := newWorld(t)
	p := w.parts("workspace")
	p.Home = ""
	s, err := sandbox.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if exit, out := run(t, s, w.sh("exit 3")); exit.Code != 3 {
		t.Errorf("%+v %s", exit, out)
	}
}
