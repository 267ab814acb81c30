package shell

import "strings"

// kinds are the ways in which an option may stand: a set of the bits below.
type kinds byte

const (
	alone    kinds = 1 << iota // -n
	valued                     // -n:  a value, attached or in the next word
	isPath                     // -n@  such a value that is a path read
	attached                   // --x= a value behind an equals sign
	glued                      // -U~  a value that may only be attached
)

// optionsOf are the options of a row by name, as the head of table.yaml spells them.
func optionsOf(flags []string) map[string]kinds {
	out := map[string]kinds{}
	for _, flag := range flags {
		name, kind := flag[:len(flag)-1], kinds(0)
		switch flag[len(flag)-1] {
		case ':':
			kind = valued
		case '@':
			kind = valued | isPath
		case '=':
			kind = attached
		case '~':
			kind = glued
		default:
			name, kind = flag, alone
		}
		out[name] |= kind
	}
	return out
}

// option is an allowed option as it stands in a command.
type option struct {
	name  string // without a value; the last one of joined ones
	words int    // it fills, its value included
	value string // where attached
	path  bool   // the value is a path that is read
}

// option finds an argument among the allowed options.
func (f form) option(arg string) (option, bool) {
	name, value, equals := strings.Cut(arg, "=")
	long, kind := strings.HasPrefix(arg, "--"), f.options[arg]
	switch {
	case kind&alone != 0:
		return option{name: arg, words: 1}, true
	case kind&valued != 0:
		return option{name: arg, words: 2, path: kind&isPath != 0}, true
	case long && equals && f.options[name]&(valued|attached) != 0:
		return option{name: name, words: 1, value: value, path: f.options[name]&isPath != 0}, true
	case long:
		return option{}, false
	case f.options["-#"] != 0 && strings.Trim(arg[1:], "0123456789") == "":
		return option{name: "-#", words: 1}, true
	}
	return f.joined(arg)
}

// joined takes short options in one word apart; the last may have a value.
func (f form) joined(arg string) (option, bool) {
	o := option{words: 1}
	for i := 1; i < len(arg); i++ {
		o.name = "-" + arg[i:i+1]
		switch kind := f.options[o.name]; {
		case kind&glued != 0:
			return o, true
		case kind&valued != 0:
			o.value, o.path = arg[i+1:], kind&isPath != 0
			if o.value == "" {
				o.words = 2
			}
			return o, true
		case kind&alone == 0:
			return o, false
		}
	}
	return o, true
}
