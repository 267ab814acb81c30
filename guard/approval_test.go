package guard_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"colony/guard"
	"colony/tools"
	"colony/tools/builtin"
)

// keep writes a file of the worktree.
func keep(t *testing.T, env *tools.Env, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(env.Root, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// running is a call of sh whose line is read as the real tool reads it.
func running(env *tools.Env, id, command string, ran *int) tools.Prepared {
	p := told("sh", id, ran, func(env *tools.Env) (tools.Effects, error) { return line(env, command), nil })
	p.Digest = hexOf(command)
	return p
}

func hexOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// AP01, contract 34: a script that was rewritten while its approval was pending does not run, by whatever line it is run.
func TestDriftedOperandIsRefused(t *testing.T) {
	for _, command := range []string{"sh ./x.sh", "./x.sh", "cd sub && sh ../x.sh", "sh x.sh $HOME", "echo 'x.sh' | xargs sh", "sh new.sh", "env A=b sh ./x.sh", "make FILE=x.sh", "sh x.sh 'unclosed"} {
		for _, early := range []bool{true, false} {
			env, ran := newEnv(t), 0
			keep(t, env, "x.sh", "echo fine")
			d := &desk{answer: func(tools.Question) (tools.Answer, error) {
				keep(t, env, "x.sh", "echo evil")
				keep(t, env, "new.sh", "echo evil")
				return tools.Answer{Allow: true}, nil
			}}
			env.Ask = d.ask
			p, c := policy(t, guard.Parts{}), running(env, "c1", command, &ran)
			if early {
				if err := p.Foresee(t.Context(), env, []tools.Prepared{c}); err != nil {
					t.Fatal(err)
				}
			}
			r, err := p.Gate()(tools.Invoke)(t.Context(), env, c)
			if err != nil || ran != 0 || r.Fault != tools.PermissionDenied || !strings.Contains(r.Text, ".sh is not what it was") || r.Rule != "execution: drift" {
				t.Errorf("%s, early %t: %+v, %v, ran %d", command, early, r, err, ran)
			}
		}
	}
}

// contract 34: what an earlier call of the batch changed is asked about again, and what did not change runs.
func TestChangeBeforeTheTurnIsAskedAgain(t *testing.T) {
	env, ran, d := newEnv(t), 0, &desk{answer: yes}
	env.Ask = d.ask
	keep(t, env, "x.sh", "echo fine")
	p, calls := policy(t, guard.Parts{}), []tools.Prepared{running(env, "c1", "sh x.sh", &ran), running(env, "c2", "sh y.sh", &ran)}
	if err := p.Foresee(t.Context(), env, calls); err != nil {
		t.Fatal(err)
	}
	keep(t, env, "x.sh", "echo changed")
	for i, asked := range []int{3, 3} {
		r, err := p.Gate()(tools.Invoke)(t.Context(), env, calls[i])
		if err != nil || r.Fault != "" || len(d.asked) != asked {
			t.Errorf("call %d: %+v, %v, asked %d", i, r, err, len(d.asked))
		}
	}
}

// prepared is a call of a real tool.
func prepared(t *testing.T, id, name, args string) tools.Prepared {
	t.Helper()
	r := tools.NewRegistry(os.Stderr)
	for _, tool := range builtin.All(0) {
		if err := r.Register(tools.BuiltIn, tool); err != nil {
			t.Fatal(err)
		}
	}
	p := r.Prepare(tools.Call{ID: id, Name: name, Args: []byte(args)})
	if p.Refused != nil {
		t.Fatal(p.Refused.Text)
	}
	return p
}

// AP02, contract 34: the question shows what would change and touches nothing; no, or a file that changed meanwhile,
// leaves the bytes alone.
func TestPreviewedEdit(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile string
		allow     bool
		fault     tools.Fault
		want      string
	}{
		"yes":               {"", true, "", "two\n"},
		"no":                {"", false, tools.PermissionDenied, "one\n"},
		"changed meanwhile": {"one\nmore\n", true, tools.StaleRead, "one\nmore\n"},
	} {
		env := newEnv(t)
		env.Files, env.Locks = tools.NewFileState(), tools.NewPathLocks()
		keep(t, env, "a.txt", "one\n")
		read := prepared(t, "r", "read", `{"path":"a.txt"}`)
		seen, err := read.Tool.Run(t.Context(), env, read.Call.Args)
		if err != nil {
			t.Fatal(err)
		}
		env.Files.Apply(seen.Seen...)
		d := &desk{answer: func(tools.Question) (tools.Answer, error) {
			if got, err := os.ReadFile(filepath.Join(env.Root, "a.txt")); err != nil || string(got) != "one\n" {
				t.Errorf("%s: the preview changed the file to %q, %v", name, got, err)
			}
			if c.meanwhile != "" {
				keep(t, env, "a.txt", c.meanwhile)
			}
			return tools.Answer{Allow: c.allow}, nil
		}}
		env.Ask = d.ask
		p, edit := policy(t, guard.Parts{}), prepared(t, "e", "edit", `{"path":"a.txt","old":"one","new":"two"}`)
		if err := p.Foresee(t.Context(), env, []tools.Prepared{edit}); err != nil {
			t.Fatal(err)
		}
		r, err := p.Gate()(tools.Invoke)(t.Context(), env, edit)
		got, _ := os.ReadFile(filepath.Join(env.Root, "a.txt"))
		if err != nil || r.Fault != c.fault || string(got) != c.want || len(d.asked) != 1 {
			t.Errorf("%s: %+v, %v, file %q, asked %d", name, r, err, got, len(d.asked))
		}
		if views, err := json.Marshal(d.asked[0].Views); err != nil || !bytes.Contains(views, []byte(`-one`)) || !bytes.Contains(views, []byte(`+two`)) {
			t.Errorf("%s: the question shows %s", name, views)
		}
	}
}

// contract 34: an edit that could not be done is not asked about: its fault is told at its turn. A tool that breaks down
// in its preview is told too, and colony's own failure is one.
func TestAFaultIsNotAskedAbout(t *testing.T) {
	env, d := newEnv(t), &desk{answer: yes}
	env.Files, env.Locks, env.Ask = tools.NewFileState(), tools.NewPathLocks(), d.ask
	keep(t, env, "a.txt", "one\n")
	p, unread := policy(t, guard.Parts{}), prepared(t, "e", "edit", `{"path":"a.txt","old":"one","new":"two"}`)
	if err := p.Foresee(t.Context(), env, []tools.Prepared{unread}); err != nil {
		t.Fatal(err)
	}
	if r, err := p.Gate()(tools.Invoke)(t.Context(), env, unread); err != nil || r.Fault != tools.StaleRead || len(d.asked) != 0 {
		t.Errorf("%+v, %v, asked %d", r, err, len(d.asked))
	}
	lost := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		preview func() error
		fault   tools.Fault
		err     error
	}{"breaks": {func() error { panic("boom") }, tools.Internal, nil}, "fails": {func() error { return lost }, "", lost}} {
		broken := unread
		broken.Tool = seer{told("edit", "e", new(int), func(env *tools.Env) (tools.Effects, error) { return writes(env, "a.txt"), nil }).Tool, c.preview}
		r, err := p.Gate()(tools.Invoke)(t.Context(), env, broken)
		if r.Fault != c.fault || !errors.Is(err, c.err) || len(d.asked) != 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// seer is a tool with a preview of its own.
type seer struct {
	tools.Tool
	preview func() error
}

func (s seer) Preview(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
	return tools.Result{}, s.preview()
}

// contract 35: only calls whose operation handles no credentials join one answer, and only those that one rule asks about.
func TestJoinedAnswers(t *testing.T) {
	env, d := newEnv(t), &desk{answer: yes}
	env.Files, env.Locks, env.Ask = tools.NewFileState(), tools.NewPathLocks(), d.ask
	ran := 0
	writing := func(id, path string) tools.Prepared {
		return prepared(t, id, "write", `{"path":"`+path+`","content":"x\n"}`)
	}
	calls := []tools.Prepared{
		writing("c1", "a"), writing("c2", "b"), // one question
		running(env, "c3", "make all", &ran), running(env, "c4", "make clean", &ran), // one each: sh may handle credentials
		writing("c5", "secret/c"), // by a rule of its own
	}
	p := policy(t, guard.Parts{Rules: rules(t, nil, []string{"write(secret/**)"}, nil)})
	if err := p.Foresee(t.Context(), env, calls); err != nil {
		t.Fatal(err)
	}
	about := map[string]bool{}
	for _, q := range d.asked {
		about[q.Call] = true
		if joined := strings.Contains(q.Call, ","); joined && (q.Grant != "" || !strings.Contains(q.Text, `"a"`) || !strings.Contains(q.Text, `"b"`) || len(q.Views) != 2) {
			t.Errorf("the joined question is %+v", q)
		}
	}
	if len(d.asked) != 4 || !about["c1, c2"] || !about["c3"] || !about["c4"] || !about["c5"] {
		t.Errorf("asked about %v", about)
	}
	for _, c := range calls {
		if r, err := p.Gate()(tools.Invoke)(t.Context(), env, c); err != nil || r.Fault != "" {
			t.Errorf("%s: %+v, %v", c.Call.ID, r, err)
		}
	}
	if len(d.asked) != 4 {
		t.Errorf("asked %d times", len(d.asked))
	}
	var many []tools.Prepared
	for i := range 20 {
		many = append(many, writing(strings.Repeat("i", i+1), strings.Repeat("f", i+1)))
	}
	if err := p.Foresee(t.Context(), env, many); err != nil || len(d.asked) != 7 {
		t.Errorf("%v, 20 calls came to %d questions", err, len(d.asked)-4)
	}
}
