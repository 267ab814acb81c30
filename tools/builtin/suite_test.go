package builtin_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"colony/tools"
	"colony/tools/builtin"
	"colony/tools/toolstest"
)

var tree = map[string]string{"a.go": "package a\n\nvar x = 1\n", "sub/b.txt": "one\ntwo\n", ".gitignore": "*.log\n", "x.log": "one\n"}

// armed lets edits and writes go ahead, as after a read of each file.
func armed(t *testing.T, e *tools.Env) {
	w := &world{T: t, env: e}
	e.Skills = []tools.Skill{{Name: "a", Body: "text", Files: map[string]string{"f": "x"}}, {Name: "b", Body: "!`ls`"}}
	for name := range tree {
		if _, err := os.Stat(filepath.Join(e.Root, name)); err == nil {
			w.ok("read", args{"path": name})
		}
	}
}

// contract 15: what is advertised of each tool, whatever a call of it is about.
func TestWhatIsAdvertised(t *testing.T) {
	want := map[string][2]bool{ // every call only reads; no call handles credentials
		"read": {true, true}, "find": {true, true}, "write": {false, true}, "edit": {false, true}, "sh": {false, false}, "skill": {false, false},
	}
	for _, one := range builtin.All(2 * time.Minute) {
		s := one.Spec()
		if got := [2]bool{s.ReadOnly, s.Noncredential}; got != want[s.Name] {
			t.Errorf("%s: read-only and noncredential %v, want %v", s.Name, got, want[s.Name])
		}
	}
}

// contract 15: among others, a spec that says read-only is borne out by the effects of every call.
func TestEveryToolPassesTheSuite(t *testing.T) {
	suites := map[string]toolstest.Suite{
		"read": {
			Good: []string{`{"path":"a.go"}`, `{"path":"."}`, `{"path":"a.go","from":2,"to":3}`},
			Bad:  []string{`{}`, `{"path":""}`, `{"path":"a.go","from":0}`, `{"path":"a.go","from":3,"to":2}`, `{"path":"a.go","lines":3}`},
		},
		"write": {
			Good: []string{`{"path":"new/c.txt","content":"c"}`, `{"path":"a.go","content":""}`},
			Bad:  []string{`{"path":"a.go"}`, `{"content":"x"}`, `{"path":"","content":"x"}`},
		},
		"edit": {
			Good: []string{`{"path":"a.go","old":"x","new":"y"}`, `{"path":"a.go","edits":[{"old":"x","new":"y"},{"old":"y","new":"z"}]}`},
			Bad: []string{`{"path":"a.go"}`, `{"path":"a.go","old":"","new":"y"}`, `{"path":"a.go","old":"x","new":"x"}`,
				`{"path":"a.go","old":"x","new":"y","edits":[{"old":"x","new":"y"}]}`, `{"path":"a.go","edits":[]}`, `{"path":"a.go","edits":[{"old":"x"}]}`},
		},
		"find": {
			Good: []string{`{}`, `{"pattern":"*.go"}`, `{"content":"v.r"}`, `{"content":"one","mode":"count","hidden":true}`},
			Bad:  []string{`{"content":"("}`, `{"pattern":"["}`, `{"mode":"matches"}`, `{"mode":"x"}`, `{"limit":0}`, `{"content":"x","context":-1}`},
		},
		"sh": {
			Good: []string{`{"command":"ls"}`, `{"command":"echo x > y"}`, `{"command":"sleep 0","background":true}`, `{"command":"exit 3","timeout":"5s"}`},
			Bad: []string{`{}`, `{"command":""}`, `{"command":"ls","job":"job-1"}`, `{"job":"job-1"}`, `{"job":"job-1","action":"stop"}`,
				`{"command":"ls","timeout":"soon"}`, `{"command":"ls","timeout":"11m"}`, `{"command":"ls","timeout":"-1s"}`},
		},
	}
	suites["skill"] = toolstest.Suite{
		Good: []string{`{"name":"a"}`, `{"name":"a/f","arguments":"x"}`, `{"name":"b","arguments":"x"}`},
		Bad:  []string{`{}`, `{"name":""}`, `{"name":"a","args":"x"}`},
	}
	for _, one := range builtin.All(2 * time.Minute) {
		suite, ok := suites[one.Spec().Name]
		if !ok {
			t.Fatalf("no suite for %s", one.Spec().Name)
		}
		suite.Tool, suite.Tree, suite.Arm = one, tree, armed
		t.Run(one.Spec().Name, func(t *testing.T) { toolstest.Run(t, suite) })
	}
}
