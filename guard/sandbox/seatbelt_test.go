package sandbox

import (
	"strings"
	"testing"
)

// The profile is only built here; nobody ran it. Of two rules about one path the later holds, so their order is what counts.
func TestSeatbeltProfile(t *testing.T) {
	text := seatbelt([]place{
		{At: "/tmp", Kind: memory}, {At: "/dev", From: "/dev", Kind: hide}, {At: "/dev/null", From: "/dev/null", Kind: device},
		{At: "/Users/ada", From: "/Users/ada", Kind: read}, {At: "/Users/ada/.ssh", From: "/Users/ada/.ssh", Kind: hide},
		{At: "/Users/ada/state", From: "/Users/ada/state", Kind: hide}, {At: `/Users/ada/state/w"t`, From: `/Users/ada/state/w"t`, Kind: write},
		{At: `/Users/ada/state/w"t/.git`, From: `/Users/ada/state/w"t/.git`, Kind: read},
	})
	if !strings.HasPrefix(text, "(version 1)\n(deny default)\n") || strings.Count(text, "(") != strings.Count(text, ")") {
		t.Fatalf("%s", text)
	}
	at := 0
	for _, want := range []string{
		`(allow file-read* (subpath "/"))`,
		`(deny file-read* file-write* (subpath "/tmp") (subpath "/private/tmp"))`,
		`(deny file-read* file-write* (subpath "/dev"))`,
		`(allow file-read* file-write-data file-ioctl (literal "/dev/null"))`,
		`(allow file-read* (subpath "/Users/ada"))`,
		`(deny file-read* file-write* (subpath "/Users/ada/.ssh"))`,
		`(deny file-read* file-write* (subpath "/Users/ada/state"))`,
		`(allow file-read* file-write* (subpath "/Users/ada/state/w\"t"))`,
		`(deny file-write* (subpath "/Users/ada/state/w\"t/.git"))`,
		`(deny file-write-unlink (literal "/Users"))`,
		`(deny file-write-unlink (literal "/Users/ada/state/w\"t"))`,
		`(deny network*)`,
	} {
		i := strings.Index(text[at:], want+"\n")
		if i < 0 {
			t.Fatalf("no %s after byte %d of\n%s", want, at, text)
		}
		at += i
	}
	if strings.Contains(text[at:], "allow") || strings.Contains(text, "network-outbound") {
		t.Errorf("the network comes back:\n%s", text)
	}
}
