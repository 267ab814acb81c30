package shell

import (
	"slices"
	"strings"
)

// option is an allowed option as it stands in a command.
type option struct {
	name  string // without a value; the last one of joined ones
	words int    // it fills, its value included
	value string // where attached
	path  bool   // the value is a path that is read
}

// option finds an argument among the allowed options.
func (f form) option(arg string) (option, bool) {
	name, value, attached := strings.Cut(arg, "=")
	switch {
	case slices.Contains(f.flags, arg):
		return option{name: arg, words: 1}, true
	case f.valued(arg):
		return option{name: arg, words: 2, path: slices.Contains(f.flags, arg+"@")}, true
	case attached && strings.HasPrefix(name, "--") && (f.valued(name) || slices.Contains(f.flags, name+"=")):
		return option{name: name, words: 1, value: value, path: slices.Contains(f.flags, name+"@")}, true
	case strings.HasPrefix(arg, "--"):
		return option{}, false
	case slices.Contains(f.flags, "-#") && strings.Trim(arg[1:], "0123456789") == "":
		return option{name: "-#", words: 1}, true
	}
	return f.joined(arg)
}

// valued reports whether an option takes a value that may stand in the next word.
func (f form) valued(name string) bool {
	return slices.Contains(f.flags, name+":") || slices.Contains(f.flags, name+"@")
}

// joined takes short options in one word apart; the last may have a value.
func (f form) joined(arg string) (option, bool) {
	o := option{words: 1}
	for i := 1; i < len(arg); i++ {
		o.name = "-" + arg[i:i+1]
		switch {
		case slices.Contains(f.flags, o.name+"~"):
			return o, true
		case f.valued(o.name):
			o.value, o.path = arg[i+1:], slices.Contains(f.flags, o.name+"@")
			if o.value == "" {
				o.words = 2
			}
			return o, true
		case !slices.Contains(f.flags, o.name):
			return o, false
		}
	}
	return o, true
}
