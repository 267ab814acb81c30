package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// How much is measured. Every wait of a measurement is bounded by benchLimit.
const (
	benchStarts = 31 // processes from exec to first request
	benchRuns   = 6  // runs of benchTurns turns of each kind
	benchTurns  = 36
	benchPeers  = 101
	benchLimit  = 2 * time.Minute
	calmWait    = 30 * time.Second
)

// BenchmarkTable measures the built binary, as a person starts it, against a model over HTTP on loopback, and prints one
// table. COLONY_BENCH_BIN names another binary than bin/colony, COLONY_BENCH the rows to measure. No time fails it.
func BenchmarkTable(b *testing.B) {
	bin := os.Getenv("COLONY_BENCH_BIN")
	if bin == "" {
		bin = filepath.Join("..", "..", "bin", "colony")
	}
	bin, err := filepath.Abs(bin)
	if err == nil {
		_, err = os.Stat(bin)
	}
	if err != nil {
		b.Fatalf("there is no binary to measure, run make build: %v", err)
	}
	rows, err := regexp.Compile(os.Getenv("COLONY_BENCH"))
	if err != nil {
		b.Fatal(err)
	}
	before := calm(b)
	t, w := &figures{}, newBenchWorld(b, bin)
	var notes []string
	for _, m := range []struct {
		name    string
		measure func()
	}{
		{"start", func() { measureStart(b, w, t) }},
		{"turns", func() { notes = append(notes, "sandbox: "+measureTurns(b, w, t)) }},
		{"memory", func() { measureMemory(b, w, t) }},
		{"log", func() { notes = append(notes, "log: "+measureLog(b, t)) }},
		{"trees", func() { measureTrees(b, w, t) }},
		{"swarm", func() { measureSwarm(b, w, t) }},
		{"onefile", func() { measureOneFile(b, w, t) }},
		{"files", func() { measureFiles(b, w, t) }},
		{"hot", func() { measureHot(b, w, t) }},
		{"mcp", func() { measureServers(b, w, t) }},
		{"languages", func() { measureLanguages(b, t) }},
		{"bill", func() { measureBill(b, w, t) }},
		{"peers", func() { measurePeers(b, w, t) }},
		{"cache", func() { notes = append(notes, fmt.Sprint("cache: ", measureCache(b, bin))) }},
	} {
		if rows.MatchString(m.name) {
			m.measure()
		}
	}
	for b.Loop() { // the table is what is measured
	}
	fmt.Printf("\nload %s before, %s after; %d cores; %s %s/%s; kernel %s\n", before, load(),
		runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, said("uname", "-r"))
	fmt.Printf("binary %s\n\n%s\n%s\n", bin, t, strings.Join(notes, "\n"))
}

// calm waits a while for the machine to be less busy than it has cores, and returns its load.
func calm(b *testing.B) string {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for end := time.Now().Add(calmWait); time.Now().Before(end) && b.Context().Err() == nil; <-tick.C {
		var now float64
		if n, err := fmt.Sscan(load(), &now); n == 1 && err == nil && now < float64(runtime.NumCPU()) {
			break
		}
	}
	return load()
}

// load is how many processes wanted to run, in the mean of the last minute.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}

func said(argv ...string) string {
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// measureStart is the time from exec to the first model request, with a state directory that is new and with one in which
// the repository is known.
func measureStart(b *testing.B, w *benchWorld, t *figures) {
	for _, c := range []struct {
		name  string
		fresh bool
		goal  string
	}{{"exec to first request, new state", true, "120"}, {"exec to first request, known repository", false, "120"}} {
		var all sample
		for i := range benchStarts + 2 {
			if c.fresh {
				w.forget(b)
			}
			began := time.Now()
			run := w.start(b, refuseAll, w.plan(b, 1))
			first := run.request(b, 1)
			run.wait(b)
			if i >= 2 { // the first ones warm up
				all = append(all, first.Sub(began))
			}
		}
		t.times(c.name, all, c.goal)
	}
}

// measureTurns is colony's own time of a turn, from a reply's last byte to the next request, and how late another process
// sees an event of the run.
func measureTurns(b *testing.B, w *benchWorld, t *figures) (mechanism string) {
	own := map[string]sample{}
	for i := range benchRuns + 1 {
		run := w.start(b, readAndRun, w.plan(b, 1))
		run.wait(b)
		if i > 0 {
			for kind, all := range run.model.own() {
				own[kind] = append(own[kind], all...)
			}
		}
	}
	mechanism, calls := w.told(b)
	if calls < 2*benchTurns {
		b.Fatalf("only %d calls of the last run came to something", calls)
	}
	t.times("own time of a turn with a read", own["read"], "4")
	t.times("own time of a turn with sh `true`", own["sh"], "18")
	run := w.start(b, readAndRun, w.plan(b, 1))
	t.times("event to its reading in another process", w.follow(b), "")
	run.wait(b)
	return mechanism
}

// measureMemory is colony's own process while its ants wait for a model that says nothing.
func measureMemory(b *testing.B, w *benchWorld, t *figures) {
	for _, ants := range []int{1, 8} {
		var all []int64
		for range 3 {
			run := w.start(b, silentAfter(ants), w.plan(b, ants), "--ants", fmt.Sprint(ants))
			run.silent(b, ants)
			all = append(all, run.pss(b))
			run.stop(b)
		}
		goal := ""
		if ants == 8 {
			goal = "60"
		}
		t.memory(fmt.Sprintf("memory (PSS) while %d wait on the model", ants), all, goal)
	}
}

// measurePeers is what the machine takes for the plain things that a turn and a start are made of.
func measurePeers(b *testing.B, w *benchWorld, t *figures) {
	t.times("peer: bash -c true, plain", peer(b, func(int) *exec.Cmd { return exec.Command("bash", "-c", "true") }), "")
	t.times("peer: git worktree add, plain", peer(b, func(i int) *exec.Cmd {
		return exec.Command("git", "-C", w.repo, "worktree", "add", "--detach", filepath.Join(w.dir, fmt.Sprint("peer", i)))
	}), "")
	t.times("peer: git --version", peer(b, func(int) *exec.Cmd { return exec.Command("git", "--version") }), "")
	t.times("peer: 1 KiB appended and flushed", flushes(b), "")
}

func peer(b *testing.B, command func(i int) *exec.Cmd) (all sample) {
	for i := range benchPeers {
		cmd := command(i)
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v: %s", cmd.Args, err, out)
		}
		all = append(all, time.Since(began))
	}
	return all
}

func flushes(b *testing.B) (all sample) {
	f, err := os.Create(filepath.Join(b.TempDir(), "flushed"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for range benchPeers {
		began := time.Now()
		if _, err := f.Write(make([]byte, 1024)); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		all = append(all, time.Since(began))
	}
	return all
}
