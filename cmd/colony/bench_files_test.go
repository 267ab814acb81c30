package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"colony/guard"
	"colony/guard/secrets"
	"colony/scheduler"
	"colony/tools"
	"colony/tools/builtin"
	"colony/tools/toolstest"
)

const (
	searchedFiles = 50_000
	searchesWarm  = 7
	searchesCold  = 2
	filesCalls    = 200
)

// measureFiles is what file tools take: a search of a large tree beside ripgrep, warm and with nothing in memory, a read
// through all layers, an edit of a large file, and the memory that unbounded input takes.
func measureFiles(b *testing.B, w *benchWorld, t *figures) {
	f := newBenchFiles(b)
	f.searches(b, w, t)
	f.calls(b, t)
	f.memory(b, t)
}

// benchFiles is an ant's env, tools and layers, without the log.
type benchFiles struct {
	env    *tools.Env
	policy *guard.Policy
	made   int
}

func newBenchFiles(b *testing.B) *benchFiles {
	env := toolstest.NewEnv(b)
	for _, t := range builtin.All(benchLimit) {
		if err := env.Tools.Register(tools.BuiltIn, t); err != nil {
			b.Fatal(err)
		}
	}
	policy, err := guard.New(guard.Parts{Mode: guard.ModeAuto, Sandboxed: true})
	if err != nil {
		b.Fatal(err)
	}
	return &benchFiles{env: env, policy: policy}
}

// layers are those of an ant, anew for each call, so that the same call again is no circle.
func (f *benchFiles) layers() tools.Handler {
	return tools.Stack(tools.Invoke, tools.Catch(), tools.LoopGuard(), tools.Refused(), f.policy.Gate(),
		tools.Cap(tools.DefaultResultCap, secrets.New().Redact), tools.Retry())
}

// call makes one call, from its bytes to its result, through the scheduler and all layers.
func (f *benchFiles) call(b *testing.B, name string, args map[string]any) (tools.Result, time.Duration) {
	raw, err := json.Marshal(args)
	if err != nil {
		b.Fatal(err)
	}
	f.made++
	handler := f.layers()
	began := time.Now()
	p := f.env.Tools.Prepare(tools.Call{ID: fmt.Sprint(f.made), Name: name, Args: raw})
	res, err := scheduler.Run(b.Context(), f.env, []tools.Prepared{p}, 1, handler)
	took := time.Since(began)
	if err != nil {
		b.Fatal(err)
	}
	f.env.Files.Apply(res[0].Seen...)
	return res[0], took
}

func (f *benchFiles) good(b *testing.B, name string, args map[string]any) time.Duration {
	res, took := f.call(b, name, args)
	if res.Fault != "" {
		b.Fatalf("%s %v: %s: %s", name, args, res.Fault, res.Text)
	}
	return took
}

// searches compares find with ripgrep on one tree, in turns.
func (f *benchFiles) searches(b *testing.B, w *benchWorld, t *figures) {
	tree := filepath.Join(w.dir, "searched")
	plantTree(b, tree)
	old := *f.env
	f.env.Root, f.env.Cwd = tree, func() string { return tree }
	defer func() { *f.env = old }()
	rg, err := exec.LookPath("rg")
	for _, c := range []struct {
		name string
		args map[string]any
		peer []string
	}{
		{"find 0 hits", map[string]any{"content": "nowhereword"}, []string{"-n", "nowhereword"}},
		{"find 10 hits", map[string]any{"content": "rareneedle"}, []string{"-n", "rareneedle"}},
		{"find 10,000 hits", map[string]any{"content": "commonneedle"}, []string{"-n", "commonneedle"}},
		{"find names", map[string]any{"pattern": "*.go"}, []string{"--files", "-g", "*.go"}},
	} {
		for _, cold := range []bool{false, true} {
			rounds, how := searchesWarm, "warm"
			if cold {
				rounds, how = searchesCold, "cold"
			}
			var ours, peers sample
			for i := range rounds + 1 {
				if err == nil {
					peers = append(peers, searchBy(b, exec.Command(rg, c.peer...), tree, cold))
				}
				if cold {
					forgetFiles(b, tree)
				}
				if took := f.good(b, "find", c.args); i > 0 || cold {
					ours = append(ours, took)
				}
			}
			if err != nil {
				t.times(c.name+", "+how+" (peer missing: rg)", ours, "")
				continue
			}
			slices.Sort(peers)
			t.times(c.name+", "+how, ours, fmt.Sprintf("%.1f", 2*float64(peers[len(peers)/2].Microseconds())/1000))
			t.times("peer: rg "+strings.Join(c.peer, " ")+", "+how, peers, "")
		}
	}
}

func searchBy(b *testing.B, cmd *exec.Cmd, tree string, cold bool) time.Duration {
	if cold {
		forgetFiles(b, tree)
	}
	cmd.Dir = tree
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil && len(out) > 0 { // without a hit rg ends with 1
		b.Fatalf("%v: %v: %.500s", cmd.Args, err, out)
	}
	return time.Since(began)
}

// plantTree makes the files, of 5 to 150 lines, a tenth of a percent of all of 1,000 directories; one in 5,000 holds the
// rare word, one in five the common one.
func plantTree(b *testing.B, tree string) {
	random := rand.New(rand.NewSource(1))
	var lines [5000]string
	for i := range lines {
		var line strings.Builder
		line.WriteString(strings.Repeat("\t", random.Intn(4)))
		for range random.Intn(10) {
			for range 2 + random.Intn(9) {
				line.WriteByte('a' + byte(random.Intn(26)))
			}
			line.WriteByte(' ')
		}
		lines[i] = line.String()
	}
	for i := range searchedFiles {
		dir := filepath.Join(tree, fmt.Sprintf("m%d/pkg%d/d%d", i/50%10, i/50%100, i/50))
		if i%50 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		many := []int{5, 20, 40, 80, 150}[random.Intn(5)]
		from := random.Intn(len(lines) - many)
		text := strings.Join(lines[from:from+many], "\n") + "\n"
		if i%5000 == 17 {
			text += "the rareneedle is here\n"
		}
		if i%5 == 3 {
			text += "a commonneedle stands here\n"
		}
		name := fmt.Sprintf("file%d.%s", i%50, []string{"go", "c", "h", "md", "txt"}[random.Intn(5)])
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tree, ".gitignore"), []byte("*.o\n/out/\nnode_modules/\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(tree, ".git"), 0o755); err != nil {
		b.Fatal(err)
	}
	unix.Sync()
}

// forgetFiles takes the files out of memory: all of the machine's where that is allowed, else their contents.
func forgetFiles(b *testing.B, tree string) {
	if os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0) == nil {
		return
	}
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
	})
	if err != nil {
		b.Fatal(err)
	}
}

// calls is one read and one edit after the other.
func (f *benchFiles) calls(b *testing.B, t *figures) {
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(f.env.Root, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	var reads, edits, flushed sample
	for i := range filesCalls { // a file each, since what was read before is a short answer
		put(fmt.Sprintf("r%d", i), strings.Repeat("\tif err != nil { return err }\n", 200))
		reads = append(reads, f.good(b, "read", map[string]any{"path": fmt.Sprintf("r%d", i)}))
	}
	t.times("read of 200 lines through all layers", reads, "0.3")
	put("large", strings.Repeat("0123456789abcde\n", 1<<15)+"here 0 there\n"+strings.Repeat("0123456789abcde\n", 1<<15))
	f.good(b, "read", map[string]any{"path": "large", "from": 1<<15 + 1, "to": 1<<15 + 1})
	for i := range benchStarts {
		edits = append(edits, f.good(b, "edit", map[string]any{"path": "large", "old": fmt.Sprintf("here %d there", i), "new": fmt.Sprintf("here %d there", i+1)}))
		began := time.Now()
		file, err := os.Create(filepath.Join(f.env.Root, "peer"))
		if err == nil {
			_, err = file.Write(make([]byte, 1<<20))
		}
		if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
			b.Fatal(err)
		}
		flushed = append(flushed, time.Since(began))
	}
	t.times("edit of a 1 MiB file", edits, "10")
	t.times("peer: 1 MiB written and flushed", flushed, "")
}

// memory is by how much the process grows at most.
func (f *benchFiles) memory(b *testing.B, t *figures) {
	line, sparse := filepath.Join(f.env.Root, "line"), filepath.Join(f.env.Root, "sparse")
	if err := errors.Join(os.WriteFile(line, []byte(strings.Repeat("x", 64<<20)), 0o644), os.WriteFile(sparse, nil, 0o644), os.Truncate(sparse, 2<<30)); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name, tool string
		args       map[string]any
	}{
		{"memory of sh `yes`, 5 s", "sh", map[string]any{"command": "yes", "timeout": "5s"}},
		{"memory of sh that prints a 64 MiB line", "sh", map[string]any{"command": "cat line"}},
		{"memory of a read of a 64 MiB line", "read", map[string]any{"path": "line"}},
		{"memory of a search of a 64 MiB line", "find", map[string]any{"path": "line", "content": "y"}},
		{"memory of a read of a 2 GiB file", "read", map[string]any{"path": "sparse"}},
		{"memory of a search of a 2 GiB file", "find", map[string]any{"path": "sparse", "content": "y"}},
		{"memory of an edit of a 2 GiB file", "edit", map[string]any{"path": "sparse", "old": "x", "new": "y"}},
	} {
		grown, ok := growth(func() { f.call(b, c.tool, c.args) })
		if !ok {
			t.times(c.name+" (not known on this system)", nil, "")
			continue
		}
		t.memory(c.name, []int64{grown}, "50")
	}
}

// growth is by how much the memory of this process grows at most while something runs; false where the kernel does not tell.
func growth(run func()) (int64, bool) {
	read := func(field string) int64 {
		data, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return 0
		}
		for text := range strings.Lines(string(data)) {
			var kilo int64
			if n, _ := fmt.Sscanf(text, field+": %d kB", &kilo); n == 1 {
				return kilo * 1024
			}
		}
		return 0
	}
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return 0, false
	}
	before := read("VmRSS")
	run()
	peak := read("VmHWM")
	return max(0, peak-before), before > 0 && peak > 0
}
