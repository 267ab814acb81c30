package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"colony/guard/sandbox"
)

// Every break-out works in the open and none in a sandbox; what does not work in the open would prove nothing.
func TestProve(t *testing.T) {
	for level, mechanism := range map[string]string{
		"workspace": sandbox.Namespaces, "workspace ": sandbox.Bubblewrap, "workspace  ": sandbox.Landlock,
		"workspace+net": sandbox.Namespaces, "read-only": sandbox.Namespaces, "off": sandbox.Namespaces,
	} {
		level, dir := strings.TrimSpace(level), t.TempDir()
		by, proofs, err := sandbox.Prove(t.Context(), level, dir, mechanism)
		if err != nil && lacks(err) {
			t.Log("not by ", mechanism, ": ", err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(proofs) < 12 || level != "off" && by != mechanism {
			t.Errorf("%s: %d proofs by %q", level, len(proofs), by)
		}
		for _, p := range proofs {
			if p.Void || p.Held != (level != "off") {
				t.Errorf("%s by %s: %+v", level, by, p)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", level, left, err)
		}
		for _, place := range []string{"/tmp", "/dev/shm"} {
			if left, err := filepath.Glob(place + "/colony-proof-*"); err != nil || len(left) > 0 {
				t.Errorf("%s: left %v, %v", level, left, err)
			}
		}
	}
}
