package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"colony/tools"
)

// Bounds of what is looked at for one question.
const (
	maxOperands = 256
	maxHashed   = 64 << 20 // bytes of a file; a longer one counts by its beginning and its length
)

// operand is a file that what a call does hangs on, and its content: empty where there is no plain file.
type operand struct {
	path, hash string
	written    bool // the call itself says that it would write it
}

// operands are the files that a call would read or write, and those that a word of its commands might name, also
// where nothing is there yet. What a program reads without being told, as make its Makefile, is not among them.
func operands(env *tools.Env, e tools.Effects) []operand {
	var all []operand
	add := func(path string, written bool) {
		path = under(env.Cwd(), path)
		known := slices.ContainsFunc(all, func(o operand) bool { return o.path == path })
		if !known && len(all) < maxOperands {
			all = append(all, operand{path, content(path), written})
		}
	}
	for _, dir := range dirs(e) {
		for _, word := range words(e) {
			add(under(dir, word), false)
		}
	}
	for _, path := range e.Reads {
		add(path, false)
	}
	for _, path := range e.Writes {
		add(path, true) // what a command only redirects to, or a file tool writes
	}
	return all
}

// under is a path as the shell sees it from a directory.
func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// dirs are the directories that the line's commands may be in.
func dirs(e tools.Effects) []string {
	out := []string{""}
	for _, c := range e.Commands {
		if len(c.Argv) > 1 && (c.Argv[0] == "cd" || c.Argv[0] == "pushd") {
			to := c.Argv[len(c.Argv)-1]
			out = append(out, to, under(out[len(out)-1], to))
		}
	}
	return out
}

// words are what the text of the commands might name, options and quotes taken off.
func words(e tools.Effects) []string {
	var out []string
	for _, c := range e.Commands {
		if strings.HasPrefix(c.Text, ">") {
			continue // a redirection
		}
		out = append(out, c.Argv...)
		for _, text := range append([]string{c.Text}, c.Also...) {
			out = append(out, split(text)...)
		}
	}
	if e.Commands == nil && !e.Known {
		for _, s := range e.Subjects {
			out = append(out, split(s)...)
		}
	}
	out = slices.DeleteFunc(out, func(w string) bool { return w == "" || w[0] == '-' || len(w) > 4096 || strings.ContainsRune(w, 0) })
	slices.Sort(out)
	return slices.Compact(out)
}

func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`$(){}<>|&;,=", r) })
}

// content is the hash of a plain file; empty for anything else.
func content(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxHashed)); err != nil {
		return ""
	}
	if info.Size() > maxHashed {
		fmt.Fprint(sum, info.Size())
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// drifted is the first file that is not what it was; empty where all are.
func drifted(before, after []operand) string {
	for i, o := range before {
		if i >= len(after) || after[i] != o {
			return o.path
		}
	}
	return ""
}

// sum is one hash over what a call does not write itself, with paths as seen from the worktree.
func sum(root string, all []operand) string {
	h := sha256.New()
	for _, o := range all {
		if o.written || o.hash == "" {
			continue
		}
		path := o.path
		if rel, ok := beneath(root, path); ok {
			path = rel
		}
		fmt.Fprintf(h, "%q %s\n", path, o.hash)
	}
	return hex.EncodeToString(h.Sum(nil))
}
