package trust_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"colony/guard/trust"
)

const (
	one = trust.Digest("sha256:1111111111111111111111111111111111111111111111111111111111111111")
	two = trust.Digest("sha256:abcdef2222222222222222222222222222222222222222222222222222222222")
)

func TestDigestsAreReadAsWritten(t *testing.T) {
	for text, want := range map[string][]trust.Digest{
		"":                                       nil,
		" , ":                                    nil,
		string(one):                              {one},
		string(one + "," + two):                  {one, two},
		"\n" + string(one+"  "+two+" \t") + "\n": {one, two},
	} {
		if got, err := trust.ParseDigests(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"x", strings.TrimPrefix(string(one), "sha256:"), string(one + "0"), string(one[:70]), "sha512:" + string(one[7:]), strings.ToUpper(string(two)), string(one) + ";" + string(two)} {
		if got, err := trust.ParseDigests(text); err == nil {
			t.Errorf("%q was read: %v", text, got)
		}
	}
	if got := trust.DigestOf(trust.File{Name: "a"}); got != trust.Digest("sha256:"+trust.Hash(trust.File{Name: "a"})) {
		t.Errorf("%s", got)
	}
}

func TestAFileOfDigestsIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust")
	if got, err := trust.ReadDigests(path); err != nil || got != nil {
		t.Errorf("no file: %v, %v", got, err)
	}
	text := "# what our machines run\n\n" + string(one) + "  gates of the shop\n\t" + string(two) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := trust.ReadDigests(path); err != nil || !slices.Equal(got, []trust.Digest{one, two}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	if got, err := trust.ReadDigests(path); err == nil {
		t.Errorf("a file that others write was read: %v", got)
	}
	if got, err := trust.ReadDigests(filepath.Dir(path)); err == nil {
		t.Errorf("a directory was read: %v", got)
	}
	odd := filepath.Join(filepath.Dir(path), "odd")
	if err := os.WriteFile(odd, []byte("# x\nall\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trust.ReadDigests(odd); err == nil || !strings.Contains(err.Error(), odd+":2: \"all\" is no digest") {
		t.Errorf("%v", err)
	}
}

// FuzzDigests holds that what is read as digests is nothing but digests, each of which stands in the text.
func FuzzDigests(f *testing.F) {
	f.Add(string(one) + " " + string(two))
	f.Add("sha256:, ")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := trust.ParseDigests(text)
		if err != nil {
			return
		}
		for _, d := range got {
			if again, err := trust.ParseDigest(string(d)); err != nil || again != d || !strings.Contains(text, string(d)) {
				t.Fatalf("%q gave %q", text, d)
			}
		}
	})
}
