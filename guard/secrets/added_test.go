package secrets_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"colony/guard/secrets"
)

// diff is what git shows between two states of a directory.
func diff(t *testing.T, before, after map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for dir, files := range map[string]map[string]string{"a": before, "b": after} {
		for name, text := range files {
			path := filepath.Join(root, dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.Command("git", "diff", "--no-index", "--no-prefix", "a", "b")
	cmd.Dir = root
	out, _ := cmd.Output() // 1 where they differ
	return string(out)
}

// A line that comes into a file and holds a credential is named; one that was there is not.
func TestAddedCredentialsAreNamed(t *testing.T) {
	key, pem := plain(canaries[0].secret), plain("-----BEGIN~ PRIVATE KEY-----\nMIICANARY\n-----END PRIVATE KEY-----\n")
	before := map[string]string{
		"kept": "1\nkey " + key + "\n3\n4\n5\n6\n7\n8\n9\n", "x": "x", "moved": key + "\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n",
		"swapped": "KEY=" + key + "\n",
	}
	after := map[string]string{
		"kept": "1\nkey " + key + "\n3\n4\n5\n6\n7\n8\nnine\n", "x": "x\n+++ b/fake\n@@ -1 +1 @@\n+" + key, "moved": "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\nnow " + key + "\n",
		"d/a b": "1\n2\n" + key + "\n", "tab\tü": "a\n" + pem + "b\n", "swapped": "KEY=" + secrets.Marker(secrets.OpenAI) + "\n", "bin": "\x00" + key,
	}
	want := []string{"d/a b:3 (openai)", "swapped:1 (marker)", "tab\tü:2 (private-key)", "x:4 (openai)"}
	var got []string
	for _, p := range detector().Added(diff(t, before, after)) {
		got = append(got, p.String())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := detector().Added(diff(t, after, after)); got != nil {
		t.Errorf("%v in nothing", got)
	}
}

// FuzzAdded holds that reading a diff ends, whatever it is, and that places have a line.
func FuzzAdded(f *testing.F) {
	key := plain(canaries[0].secret)
	for _, seed := range []string{
		"--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@ f\n a\n+" + key + "\n\\ No newline at end of file\n", "+++ \"b/\\303\\274\"\n@@ -0,0 +1 @@\n+" + key,
		"+++ b/f\n@@ -1,99999999 +1,9 @@\n", "+++ b/f\n@@ x\n+" + key + "\n", "+++ b/f\n@@ -5 +-7,2 @@\n+" + key + "\n",
	} {
		f.Add(seed)
	}
	d := detector()
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range d.Added(text) {
			if p.Kind == "" || strings.HasPrefix(p.String(), ":") && p.File != "" {
				t.Fatalf("%+v", p)
			}
		}
	})
}
