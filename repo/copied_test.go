package repo_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A copy has one commit and its files, and nothing else of the repository, which stays as it was.
func TestCopyTakesOneCommit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Setenv("HOME", t.TempDir())
			t.Setenv("GIT_DEFAULT_HASH", format)
			dir := fresh(t, map[string]string{"a.txt": "a\n", "deep/b.txt": "first\n", ".gitattributes": "*.txt filter=spoil\n"})
			write(t, dir, "deep/b.txt", "second\n")
			if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "second")
			base := git(t, dir, "rev-parse", "HEAD")
			git(t, dir, "config", "filter.spoil.smudge", "echo spoilt; touch "+filepath.Join(dir, "ran"))
			git(t, dir, "config", "core.fsmonitor", "touch "+filepath.Join(dir, "ran"))
			write(t, dir, "a.txt", "not committed\n")
			r := open(t, dir, "r1")
			before := picture(t, dir)
			to := filepath.Join(t.TempDir(), "copy")
			if err := r.Copy(t.Context(), base, to); err != nil {
				t.Fatal(err)
			}
			if after := picture(t, dir); after != before {
				t.Errorf("the repository changed:\n%s", differ(before, after))
			}
			if got := git(t, to, "rev-parse", "HEAD", "HEAD^{tree}"); got != git(t, dir, "rev-parse", base, base+"^{tree}") {
				t.Errorf("got %s", got)
			}
			if n := git(t, to, "rev-list", "--count", "HEAD"); n != "1" {
				t.Errorf("%s commits", n)
			}
			if read(t, to, "a.txt") != "a\n" || read(t, to, "deep/b.txt") != "second\n" || git(t, to, "status", "--porcelain") != "" {
				t.Errorf("the files are not the commit's: %s", git(t, to, "status", "--porcelain"))
			}
			git(t, to, "fsck", "--strict")
			if r.Copy(t.Context(), "--upload-pack=x", to) == nil {
				t.Error("a flag was taken for a commit")
			}
		})
	}
}
