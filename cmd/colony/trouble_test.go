package main

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"colony/model/scripted"

	"github.com/rogpeppe/go-internal/txtar"
)

// onceKilled is a gate that kills itself, once, where the seventh task's file is.
const onceKilled = "test ! -f made7.txt || test -f .killed || { touch .killed; kill -9 $$; }"

// In the middle of a plan of forty tasks an ant is stopped, a gate is killed and the provider goes away: the branch comes to
// the same tree as without. COLONY_AWAY says for how long the provider is gone.
func TestTroubleInABigPlan(t *testing.T) {
	gone := 2 * time.Second
	if text := os.Getenv("COLONY_AWAY"); text != "" {
		var err error
		if gone, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	plan, commands, _ := bigPlan()
	v := newVictim(t, &txtar.Archive{Files: []txtar.File{{Name: "plan.yaml", Data: []byte(plan)}, {Name: "scenario.yaml", Data: []byte("name: none\ncards: {worker: {t: []}}\n")},
		{Name: "repo/.gitignore", Data: []byte(".killed\n")}}}, filepath.Join(built, "colony"))
	defer v.gone(t)
	trees := map[string]string{}
	for _, c := range []struct {
		run, gate string
		trouble   bool
	}{{"r-calm", "true", false}, {"r-trouble", onceKilled, true}} {
		server, err := scripted.Serve(t.Context(), scripted.Parts{Scenarios: []scripted.Scenario{writes(50*time.Millisecond, commands)}})
		if err != nil {
			t.Fatal(err)
		}
		d := &trouble{t: t, v: v, run: c.run, gone: gone, quiet: !c.trouble}
		d.carry(server, "run", "-f", filepath.Join(v.dir, "plan.yaml"), "--model", "openai/any", "--gate", c.gate, "--run-id", c.run, "--json", "--ants", "12")
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if c.trouble && (!d.stopped || !d.again || d.refused.Load() == 0 || !strings.Contains(d.log, "gate_killed")) {
			t.Errorf("there was no trouble: stopped %t, began again %t, %d requests refused", d.stopped, d.again, d.refused.Load())
		}
		trees[c.run] = v.git(t, "rev-parse", "colony/"+c.run+"^{tree}")
	}
	if trees["r-calm"] != trees["r-trouble"] {
		t.Errorf("the trees differ: %v", trees)
	}
}

// trouble is what befalls a run.
type trouble struct {
	t              *testing.T
	v              *victim
	run            string
	gone           time.Duration
	quiet          bool
	away           atomic.Bool
	refused        atomic.Int64
	stopped, again bool
	done           int
	log            string
}

// carry carries a run out and reads along.
func (d *trouble) carry(server *scripted.Server, args ...string) {
	to, err := url.Parse(strings.TrimSuffix(server.URL, "/v1"))
	if err != nil {
		d.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.away.Load() {
			d.refused.Add(1)
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	ctx, cancel := context.WithTimeout(d.t.Context(), 4*time.Minute)
	defer cancel()
	cmd := d.command(ctx, args...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+front.URL+"/v1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		d.log += lines.Text() + "\n"
		if !d.quiet {
			d.befall(ctx, lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil {
		d.t.Fatalf("%s: %v\n%s", d.run, err, d.log[max(0, len(d.log)-4000):])
	}
}

func (d *trouble) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.v.bin, args...)
	cmd.Dir, cmd.Env = filepath.Join(d.v.dir, "repo"), d.v.env()
	return cmd
}

// befall does what is to come at a line of the log.
func (d *trouble) befall(ctx context.Context, line string) {
	is := func(parts ...string) bool {
		for _, p := range parts {
			if !strings.Contains(line, p) {
				return false
			}
		}
		return true
	}
	do := func(args ...string) {
		if out, err := d.command(ctx, args...).CombinedOutput(); err != nil {
			d.t.Errorf("%v: %v: %s", args, err, out)
		}
	}
	switch {
	case is(`"type":"ant.hatched"`, `"task":"t9"`) && !d.stopped:
		d.stopped = true
		_, ant, _ := strings.Cut(line, `"ant":"`)
		ant, _, _ = strings.Cut(ant, `"`)
		do("stop", d.run, "--ant", ant)
	case is(`"type":"task.done"`, `"task":"t9"`, `"status":"cancelled"`):
		d.again = true
		do("retry", "t9")
	case is(`"type":"task.done"`):
		if d.done++; d.done == 15 {
			d.away.Store(true)
			time.AfterFunc(d.gone, func() { d.away.Store(false) })
		}
	}
}
