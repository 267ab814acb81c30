package shell

import (
	"path"
	"slices"
	"strings"
)

// naming are the options of a program that name another program, or settings from which it takes one.
var naming = map[string][]string{
	"go":   {"-toolexec", "-vettool", "-exec", "-overlay", "-modfile"},
	"git":  {"-c", "--config-env", "--exec-path", "--upload-pack", "--receive-pack", "-u", "-x", "--exec", "--ext-diff", "-O", "--open-files-in-pager"},
	"rg":   {"--pre", "--hostname-bin"},
	"tar":  {"--to-command", "--checkpoint-action", "-I", "--use-compress-program", "-F", "--info-script", "--new-volume-script", "--rmt-command", "--rsh-command"},
	"sort": {"--compress-program"},
	"find": {"-exec", "-execdir", "-ok", "-okdir"},
	"npm":  {"--script-shell"},
	"ssh":  {"-o", "-F"},
	"make": {"-f", "--file", "--makefile", "--eval"},
}

// NamesProgram is the option of a command that makes it run another program, empty where there is none.
// Such a command is not covered by a rule that only fixes how the command begins.
func NamesProgram(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	flags := naming[path.Base(argv[0])]
	for _, arg := range argv[1:] {
		name, _, _ := strings.Cut(arg, "=")
		short := strings.TrimPrefix(name, "-")
		if slices.Contains(flags, name) || strings.HasPrefix(short, "-") && path.Base(argv[0]) == "go" && slices.Contains(flags, short) {
			return name
		}
	}
	return ""
}
