package builtin_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"colony/scheduler"
	"colony/tools"
)

// times is how often a case is tried: short, or in the long form, which COLONY_DAMAGE=all asks for, long.
func times(short, long int) int {
	if os.Getenv("COLONY_DAMAGE") == "all" {
		return long
	}
	return short
}

// link makes links, from a name in the worktree to where it leads.
func (w *world) link(links map[string]string) {
	w.Helper()
	for from, to := range links {
		w.must(os.MkdirAll(filepath.Dir(w.path(from)), 0o755))
		w.must(os.Symlink(to, w.path(from)))
	}
}

// FS06, contract 61: a directory that is swapped for a link out of the tree, again and again, leads nobody out.
func TestGivenSwaps(t *testing.T) {
	var cases []struct {
		Name, Tool string
		Args       args
		Swaps      int
	}
	load(t, "testdata/swaps.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t)
			out := t.TempDir()
			w.put("d/twin", "twin")
			w.ok("read", args{"path": "d/twin"})
			for name, text := range map[string]string{"twin": "twin", "secret": "canary"} {
				w.must(os.WriteFile(filepath.Join(out, name), []byte(text), 0o644))
			}
			w.link(map[string]string{"l": out})
			done := swapping(w, c.Swaps)
			for n := 0; ; n++ {
				if res := w.call(c.Tool, c.Args); strings.Contains(res.Text, "canary") || strings.Contains(res.Text, "secret\n") {
					t.Errorf("after %d calls it tells: %s", n, res.Text)
				}
				select {
				case <-done:
				default:
					continue
				}
				break
			}
			left, err := os.ReadDir(out)
			if w.must(err); len(left) != 2 || read(filepath.Join(out, "twin")) != "twin" {
				t.Errorf("outside holds %v, %q", left, read(filepath.Join(out, "twin")))
			}
		})
	}
}

// swapping swaps the directory d and the link l for each other so many times. What a call made in the place of d meanwhile goes.
func swapping(w *world, swaps int) (done chan struct{}) {
	move := func(from, to string) {
		var err error
		for range 1000 {
			if err = os.Rename(w.path(from), w.path(to)); err == nil {
				return
			}
			err = os.RemoveAll(w.path(to))
		}
		w.Errorf("%s never became %s: %v", from, to, err)
	}
	done = make(chan struct{})
	go func() {
		defer close(done)
		for range swaps {
			move("d", "x")
			move("l", "d")
			move("d", "l")
			move("x", "d")
		}
	}()
	return done
}

// ED03, contract 39: mode and links are kept, and what a link leads to is what changes.
func TestGivenKept(t *testing.T) {
	var cases []struct {
		Name, Mode, File, Path string
		Links                  map[string]string
	}
	load(t, "testdata/kept.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t)
			bits, err := strconv.ParseUint(c.Mode, 8, 32)
			w.must(err)
			w.put(c.File, "one\n")
			w.link(c.Links)
			w.must(syscall.Chmod(w.path(c.File), uint32(bits)))
			w.ok("read", args{"path": c.Path})
			for _, step := range []struct {
				tool string
				args args
			}{{"edit", args{"path": c.Path, "old": "one", "new": "two"}}, {"write", args{"path": c.Path, "content": "two\n\n"}}} {
				w.ok(step.tool, step.args)
				var st syscall.Stat_t
				w.must(syscall.Lstat(w.path(c.File), &st))
				if got := uint64(st.Mode) & 0o7777; got != bits || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
					t.Errorf("%s: mode %o became %o", step.tool, bits, st.Mode)
				}
				for from, to := range c.Links {
					if now, err := os.Readlink(w.path(from)); err != nil || now != to {
						t.Errorf("%s: the link %s leads to %q, %v", step.tool, from, now, err)
					}
				}
			}
			w.holds(c.File, "two\n\n")
		})
	}
}

// ED08, contract 40: what is no plain file, read-only or huge is refused with its fault, within a second and in little memory.
func TestGivenSpecialFiles(t *testing.T) {
	var cases []struct {
		Name, Make, To, Text, Mode, Path string
		Bytes                            int64
		Faults                           map[string]tools.Fault
	}
	load(t, "testdata/special.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t)
			at := w.path("it")
			switch c.Make {
			case "pipe":
				w.must(syscall.Mkfifo(at, 0o644))
			case "socket":
				l, err := net.Listen("unix", at)
				w.must(err)
				defer l.Close()
			case "directory":
				w.must(os.Mkdir(at, 0o755))
			case "link":
				w.must(os.Symlink(c.To, at))
			case "line":
				w.put("it", strings.Repeat("x", int(c.Bytes)))
			case "file":
				w.put("it", c.Text)
				if c.Bytes > 0 {
					w.must(os.Truncate(at, c.Bytes))
				}
			}
			if c.Mode == "0444" {
				w.ok("read", args{"path": "it"})
				w.must(os.Chmod(at, 0o444))
			}
			path := c.Path
			if path == "" {
				path = "it"
			}
			for name, fault := range c.Faults {
				a := args{"path": path}
				switch name {
				case "edit":
					a["old"], a["new"] = "x", "y"
				case "write":
					a["content"] = "y"
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				w.fault(fault, "", name, a)
				took := time.Since(start)
				if runtime.ReadMemStats(&after); took > time.Second || after.TotalAlloc-before.TotalAlloc > 50<<20 {
					t.Errorf("%s took %v and %d bytes", name, took, after.TotalAlloc-before.TotalAlloc)
				}
			}
			if c.Make == "line" {
				if res := w.ok("read", args{"path": "it"}); len(res.Text) > 4000 || !strings.Contains(res.Text, fmt.Sprintf("line cut: %d bytes", c.Bytes)) {
					t.Errorf("the line reads as %d bytes: %.100q", len(res.Text), res.Text)
				}
			}
		})
	}
}

// SD01, contract 41: edits of one file land, all of them, in one batch and side by side, however its path is spelt.
func TestGivenSpellings(t *testing.T) {
	var cases []struct {
		Name          string
		Links         map[string]string
		Paths         []string
		Trials, Short int
	}
	load(t, "testdata/spellings.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t)
			w.link(c.Links)
			w.must(w.env.Tools.Register(tools.BuiltIn, tool("edit")))
			var calls []tools.Prepared
			before, after := "", ""
			for i, path := range c.Paths {
				before, after = before+fmt.Sprintf("%d ", i), after+"x "
				a := args{"path": strings.ReplaceAll(path, "ROOT", w.env.Root), "old": fmt.Sprint(i), "new": "x"}
				calls = append(calls, w.env.Tools.Prepare(tools.Call{ID: fmt.Sprint(i), Name: "edit", Args: raw(t, a)}))
			}
			stack := tools.Stack(tools.Invoke, tools.Refused(), tools.Catch())
			for n := range times(c.Short, c.Trials) {
				w.put("a.go", before)
				w.ok("read", args{"path": "a.go"})
				results := make([]tools.Result, len(calls))
				if n%2 == 0 {
					var err error
					results, err = scheduler.Run(t.Context(), w.env, calls, 10, stack)
					w.must(err)
				} else {
					var group sync.WaitGroup
					for i, call := range calls {
						group.Go(func() {
							var err error
							if results[i], err = stack(t.Context(), w.env, call); err != nil {
								t.Error(err)
							}
						})
					}
					group.Wait()
				}
				for i, res := range results {
					if res.Fault != "" {
						t.Errorf("trial %d: %s: %s", n, c.Paths[i], res.Text)
					}
				}
				w.holds("a.go", after)
			}
		})
	}
}
