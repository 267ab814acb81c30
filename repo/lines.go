package repo

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Lines are how many lines each commit added or took away, of those that the state directory still has.
// It changes nothing.
func (p Parts) Lines(ctx context.Context, commits []string) (map[string]int64, error) {
	bin, err := exec.LookPath("git")
	if err != nil {
		return nil, &UnsupportedError{What: "git was not found", Next: "install git 2.39 or later"}
	}
	var ask strings.Builder
	for _, c := range commits {
		if checkID(c) == nil {
			ask.WriteString(c + "\n")
		}
	}
	if ask.Len() == 0 {
		return nil, nil
	}
	git := caller{bin: bin, env: ownEnv(p.State), traffic: newTraffic()}.at(filepath.Join(p.State, "git"), "")
	out, err := git.run(ctx, []byte(ask.String()), "log", "--no-walk=unsorted", "--ignore-missing", "--stdin", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", "--format=>%H")
	if err != nil {
		return nil, err
	}
	lines := map[string]int64{}
	commit := ""
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), ">"); ok && checkID(id) == nil {
			commit = id
			lines[commit] += 0
			continue
		}
		words := strings.SplitN(line, "\t", 3)
		if len(words) < 3 || commit == "" {
			continue
		}
		for _, word := range words[:2] {
			n, _ := strconv.ParseInt(word, 10, 64) // a binary file has none
			lines[commit] += n
		}
	}
	return lines, nil
}
