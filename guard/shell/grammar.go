package shell

import (
	"regexp"
	"slices"
	"strings"
)

// form is one read-only form of a tool: a row of the table.
type form struct {
	name string // one word, or two for a subcommand
	// flags are the allowed options: "-n" takes none, "-n:" takes a value (behind or attached), "--x=" an
	// attached one, "-#" is a number. Short options without a value may be joined. What is not listed
	// makes the command not read-only.
	flags    string
	text     int            // operands at the front that are no paths; all of them where negative
	most     int            // operands allowed; 0 is any number, -1 none
	operand  *regexp.Regexp // what the operands that are no paths must look like; nil is anything
	needs    string         // options of which one must be there
	yes, not []string       // examples, checked by test
}

// ReadOnly reports whether the read-only grammar knows a command. What a git repository's own settings make of
// it depends on the directory: only the worktree's own is colony's.
func ReadOnly(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	ro, _ := grammar(argv)
	return ro
}

// grammar reports whether the read-only table has this command, and the paths it reads.
func grammar(argv []string) (bool, []string) {
	f, rest, ok := lookup(argv)
	if !ok {
		return false, nil
	}
	flags := strings.Fields(f.flags)
	needed := f.needs == ""
	var operands []string
	for i := 0; i < len(rest); i++ {
		arg := rest[i]
		if arg == "--" {
			operands = append(operands, rest[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			operands = append(operands, arg)
			continue
		}
		n, ok := option(flags, arg)
		if !ok || i+n > len(rest) {
			return false, nil
		}
		needed = needed || slices.Contains(strings.Fields(f.needs), arg)
		i += n - 1
	}
	return needed && f.holds(operands), f.paths(operands)
}

func lookup(argv []string) (form, []string, bool) {
	for _, f := range table {
		name, sub, two := strings.Cut(f.name, " ")
		switch {
		case argv[0] != name:
		case !two:
			return f, argv[1:], true
		case len(argv) > 1 && argv[1] == sub:
			return f, argv[2:], true
		}
	}
	return form{}, nil, false
}

func (f form) holds(operands []string) bool {
	if f.most < 0 && len(operands) > 0 || f.most > 0 && len(operands) > f.most {
		return false
	}
	if f.operand == nil {
		return true
	}
	for _, o := range operands[:len(operands)-len(f.paths(operands))] {
		if !f.operand.MatchString(o) {
			return false
		}
	}
	return true
}

func (f form) paths(operands []string) []string {
	if f.text < 0 || f.text >= len(operands) {
		return nil
	}
	return operands[f.text:]
}

// option is how many words an allowed option fills.
func option(flags []string, arg string) (int, bool) {
	name, _, attached := strings.Cut(arg, "=")
	switch {
	case slices.Contains(flags, arg):
		return 1, true
	case slices.Contains(flags, arg+":"):
		return 2, true
	case attached && strings.HasPrefix(name, "--") && (slices.Contains(flags, name+"=") || slices.Contains(flags, name+":")):
		return 1, true
	case strings.HasPrefix(arg, "--"):
		return 0, false
	case slices.Contains(flags, "-#") && strings.Trim(arg[1:], "0123456789") == "":
		return 1, true
	}
	for i := 1; i < len(arg); i++ { // joined short options; the last may take a value
		short := "-" + arg[i:i+1]
		if slices.Contains(flags, short+":") {
			if i+1 < len(arg) {
				return 1, true
			}
			return 2, true
		}
		if !slices.Contains(flags, short) {
			return 0, false
		}
	}
	return 1, true
}
