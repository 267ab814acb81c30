package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// interrupt: `interrupt SIGNALS WHEN CODE FILE CMD...` sends signals to a command when a line of its standard output
// holds WHEN, and wants it to end with CODE within 10 s. FILE keeps its standard output. SIGNALS is INT, TERM, HUP or
// KILL, after which CODE is -1; with a plus, as INT+, it comes again and again; of TERM,INT the second comes soon after.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	word, again := strings.CutSuffix(args[0], "+")
	name, then, twice := strings.Cut(word, ",")
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}
	signal := signals[name]
	cmd := exec.Command(program(ts, args[4]), args[5:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), environment(ts)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	var all strings.Builder
	var sent time.Time
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		fmt.Fprintln(&all, lines.Text())
		if sent.IsZero() && strings.Contains(lines.Text(), args[1]) {
			sent = time.Now()
			ts.Check(cmd.Process.Signal(signal))
			if twice {
				timer := time.AfterFunc(300*time.Millisecond, func() { _ = cmd.Process.Signal(signals[then]) }) // it may be over
				defer timer.Stop()
			}
			if again {
				stop := hammer(cmd.Process, signal)
				defer stop()
			}
		}
	}
	_ = cmd.Wait() // the code is compared below
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(all.String()), 0o600))
	ts.Logf("%s%s", all.String(), errors.String())
	switch code := fmt.Sprint(cmd.ProcessState.ExitCode()); {
	case sent.IsZero():
		ts.Fatalf("no line held %q", args[1])
	case code != args[2]:
		ts.Fatalf("ended with %s, want %s", code, args[2])
	case time.Since(sent) > 10*time.Second:
		ts.Fatalf("went on for %s after the signal", time.Since(sent))
	}
}

// hammer sends a signal every 20 ms until the process is gone or stop is called, which waits.
func hammer(p *os.Process, signal syscall.Signal) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if p.Signal(signal) != nil {
					return
				}
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-gone }
}

func program(ts *testscript.TestScript, name string) string {
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), ":") {
		if path := filepath.Join(dir, name); executable(path) {
			return path
		}
	}
	ts.Fatalf("%s is not on the path", name)
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func environment(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"HOME", "PATH", "TERM", "WORK", "USER", "COLONY_LIMITS_STOP", "TMPDIR", "GIT_CONFIG_NOSYSTEM", "OPENAI_BASE_URL", "OPENAI_API_KEY", "XDG_CACHE_HOME"} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// nobodyLeft: `nobody` wants that within 5 s no process works in this script's directory.
func nobodyLeft(ts *testscript.TestScript, neg bool, _ []string) {
	root := ts.Getenv("WORK")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(5 * time.Second)
	for {
		left := working(root)
		if (len(left) > 0) == neg {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("still there: %v", left)
		}
		<-tick.C
	}
}

// working are the other processes that have their directory, a word of their command line or an open file under root.
func working(root string) []string {
	var found []string
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		if p == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		places, _ := filepath.Glob(filepath.Join(p, "fd", "*"))
		for _, link := range append(places, filepath.Join(p, "cwd")) {
			if place, _ := os.Readlink(link); strings.HasPrefix(place, root) || bytes.Contains(line, []byte(root)) {
				found = append(found, fmt.Sprintf("%s %q at %s", p, line, place))
				break
			}
		}
	}
	return found
}
