//go:build failpoints

package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// An ant that is stopped has its work kept and its worktree put away. Where colony is killed between that and the word of
// it in the log, a resume goes on with what the kept ref has.
func TestKilledWhileItPutsAway(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/kill/shutdown.txtar")
	if err != nil {
		t.Fatal(err)
	}
	whole := newVictim(t, archive, filepath.Join(built, "colony"))
	defer whole.gone(t)
	if code := whole.colony(t, 0, "", whole.run()...); code != 0 {
		t.Fatalf("the run that nobody kills ended with %d: %s", code, whole.said)
	}
	bin := withPoints(t)
	for _, point := range []string{"repo.swap.after:1", "repo.erase.before:1", "repo.erase.after:1", "repo.erase.after:2"} {
		v := newVictim(t, archive, bin)
		v.when, v.gentle = `"type":"tool.started","call":"call_0_4"`, 30*time.Second
		code := v.colony(t, time.Millisecond, point, v.run()...)
		v.when, v.gentle = "", 0
		if code != -1 {
			t.Errorf("%s: ended with %d and was not killed", point, code)
		}
		if code := v.colony(t, 0, "", "resume", v.name(), "--json"); code != 0 {
			t.Errorf("%s: resume ended with %d: %s", point, code, v.said)
		}
		v.compare(t, whole, &tally{})
		v.gone(t)
	}
}
