package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"colony/event"
	"colony/model/scripted"

	"github.com/rogpeppe/go-internal/testscript"
)

// billedAsCounted: `billed` compares the standard output of `colony cost --json` with what the server counted.
func billedAsCounted(ts *testscript.TestScript, neg bool, _ []string) {
	var bill struct {
		Total struct {
			Usage struct {
				Requests  int64 `json:"requests"`
				Input     int64 `json:"input_tokens"`
				Cached    int64 `json:"cached_input_tokens"`
				Written   int64 `json:"cache_write_tokens"`
				Output    int64 `json:"output_tokens"`
				Reasoning int64 `json:"reasoning_tokens"`
			}
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &bill))
	var want [6]int64
	for _, r := range counts(ts).Rows {
		for i, n := range [6]int64{r.Replies, r.Input, r.Cached, r.CacheWrite, r.Output, r.Reasoning} {
			want[i] += n
		}
	}
	u := bill.Total.Usage
	if got := [6]int64{u.Requests, u.Input, u.Cached, u.Written, u.Output, u.Reasoning}; got != want {
		ts.Fatalf("the bill says %v, the server counted %v", got, want)
	}
}

func counts(ts *testscript.TestScript) (c scripted.Counts) {
	reply, err := http.Get(strings.TrimSuffix(ts.Getenv("OPENAI_BASE_URL"), "/v1") + "/counts")
	ts.Check(err)
	defer reply.Body.Close()
	ts.Check(json.NewDecoder(reply.Body).Decode(&c))
	return c
}

// commitAll: `commit DIR` makes a repository of a directory, with one commit.
func commitAll(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(args[0])
	for _, git := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "base"}} {
		ts.Check(ts.Exec("git", append([]string{"-C", dir}, git...)...))
	}
}

// exitCode: `code N CMD...` wants a command to end with exit code N.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		got = -1
		if e, ok := err.(interface{ ExitCode() int }); ok {
			got = e.ExitCode()
		}
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("%s ended with %d, want %s (%v)", strings.Join(args[1:], " "), got, args[0], err)
	}
}

// within: `within 5s CMD...` wants a command to end, with whatever code, in that time.
func within(ts *testscript.TestScript, neg bool, args []string) {
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	start := time.Now()
	exitCode(ts, false, args[1:])
	if took := time.Since(start); took > limit {
		ts.Fatalf("%s took %s, more than %s", strings.Join(args[2:], " "), took, limit)
	}
}

// takeSnapshot: `snapshot NAME DIR` remembers every file of a checkout and its .git, but for objects and colony's refs.
func takeSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	data, err := json.Marshal(photograph(ts, ts.MkAbs(args[1])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".snapshot"), data, 0o600))
}

// compareSnapshot: `unchanged NAME DIR` wants all of it to be as it was.
func compareSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	var before map[string]string
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(ts.MkAbs(args[0]+".snapshot"))), &before))
	after := photograph(ts, ts.MkAbs(args[1]))
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] != before[name] {
			ts.Fatalf("%s was changed or removed", name)
		}
		delete(after, name)
	}
	if len(after) > 0 {
		ts.Fatalf("there is more than before: %v", slices.Sorted(maps.Keys(after)))
	}
}

func photograph(ts *testscript.TestScript, root string) map[string]string {
	files := map[string]string{}
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, ours := range []string{".git/objects", ".git/refs/colony", ".git/refs/heads/colony"} {
			if rel == ours {
				return filepath.SkipDir
			}
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return err
		}
		data := []byte("link")
		if info.Mode().IsRegular() {
			if data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		files[rel] = fmt.Sprintf("%s %x", info.Mode(), sha256.Sum256(data))
		return nil
	}))
	return files
}

// antsOverlap: `overlap` wants, in the events on the last standard output, two calls of different ants that ran at the
// same time; `overlap calls` two calls of any ant.
func antsOverlap(ts *testscript.TestScript, neg bool, args []string) {
	if found := overlapping(ts, len(args) == 0); found == neg {
		ts.Fatalf("calls overlap: %v", found)
	}
}

func overlapping(ts *testscript.TestScript, differ bool) bool {
	open := map[string]string{} // call to ant
	scanner := bufio.NewScanner(strings.NewReader(ts.ReadFile("stdout")))
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var e event.Event
		ts.Check(json.Unmarshal(scanner.Bytes(), &e))
		switch b := e.Body.(type) {
		case event.ToolStarted:
			for _, ant := range open {
				if ant != e.Ant || !differ {
					return true
				}
			}
			open[e.Ant+b.Call] = e.Ant
		case event.ToolDone:
			delete(open, e.Ant+b.Call)
		}
	}
	return false
}
