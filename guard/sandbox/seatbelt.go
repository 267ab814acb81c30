package sandbox

import (
	"slices"
	"strings"
)

// seatbelt is the profile by which macOS's sandbox-exec confines a job: nothing that is not said here is allowed, and of two
// rules about one thing the later holds. It was never run.
func seatbelt(places []place) string {
	var b strings.Builder
	say := func(words ...string) { b.WriteString("(" + strings.Join(words, " ") + ")\n") }
	say("version", "1")
	say("deny", "default")
	for _, what := range []string{
		"process-fork", "process-exec", "signal (target same-sandbox)", "process-info* (target same-sandbox)", "sysctl-read",
		"file-read-metadata", "system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2))",
		`mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.logger")`,
		"file-read* (subpath \"/\")",
	} {
		say("allow", what)
	}
	for _, p := range places {
		at := "(subpath " + quoted(p.From) + ")"
		switch p.Kind {
		case hide:
			say("deny", "file-read*", "file-write*", at)
		case memory: // the job has its scratch instead; macOS keeps these elsewhere
			say("deny", "file-read*", "file-write*", "(subpath "+quoted(p.At)+")", "(subpath "+quoted("/private"+p.At)+")")
		case read:
			say("allow", "file-read*", at)
			say("deny", "file-write*", at)
		case write:
			say("allow", "file-read*", "file-write*", at)
			say("deny", "file-write-setugid", at)
		case device:
			say("allow", "file-read*", "file-write-data", "file-ioctl", "(literal "+quoted(p.From)+")")
		}
	}
	// What lies on the way to a place that may be written could be moved away, and the place with it.
	for _, dir := range ancestors(places) {
		say("deny", "file-write-unlink", "(literal "+quoted(dir)+")")
	}
	say("deny", "network*")
	return b.String()
}

// ancestors are the directories that hold places which may be written, and those places.
func ancestors(places []place) []string {
	var all []string
	for _, p := range places {
		if p.Kind != write {
			continue
		}
		for at := p.From; len(at) > 1; at = at[:max(strings.LastIndexByte(at, '/'), 0)] {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// quoted is a text as the profile's language has it.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
