package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"colony/tools"
	"colony/tools/toolstest"
)

const editSchema = `{"type":"object","properties":{
	"path":{"type":"string"},"from":{"type":"integer","minimum":1},"ratio":{"type":"number"},
	"old":{"type":["string","null"]},"replace_all":{"type":"boolean"},
	"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}},"required":["old","new"],"additionalProperties":false}},
	"tags":{"type":"array","items":{"type":"string"}},"free":{"type":"object"}},
	"required":["path"],"additionalProperties":false}`

func withSchema(name, schema string) tools.Tool {
	return toolstest.Fake{Is: tools.Spec{Name: name, Params: json.RawMessage(schema)}}
}

func editor(t testing.TB) *tools.Registry {
	t.Helper()
	r := registry(t, "sh", "read", "find")
	must(t, r.Register(tools.BuiltIn, withSchema("edit", editSchema)))
	return r
}

func call(name, args string) tools.Call {
	return tools.Call{ID: "c1", Name: name, Args: json.RawMessage(args)}
}

// contract 17
func TestStrictParsingAndCoercions(t *testing.T) {
	for name, c := range map[string]struct{ in, out, coerced string }{
		"canonical":         {`{ "path" : "b<&>" , "from":2 }`, `{"from":2,"path":"b<&>"}`, ""},
		"number":            {`{"path":"a","from":"12"}`, `{"from":12,"path":"a"}`, "from: the string 12 was read as JSON"},
		"fraction":          {`{"path":"a","ratio":"1.5"}`, `{"path":"a","ratio":1.5}`, "ratio: the string 1.5 was read as JSON"},
		"whole float":       {`{"path":"a","from":3.0}`, `{"from":3,"path":"a"}`, ""},
		"exponent":          {`{"path":"a","from":1e2}`, `{"from":100,"path":"a"}`, ""},
		"tiny":              {`{"path":"a","ratio":1e-999999999}`, `{"path":"a","ratio":0}`, ""},
		"boolean":           {`{"path":"a","replace_all":"true"}`, `{"path":"a","replace_all":true}`, "replace_all: the string true was read as JSON"},
		"array":             {`{"path":"a","tags":"[\"x\"]"}`, `{"path":"a","tags":["x"]}`, `tags: the string ["x"] was read as JSON`},
		"object":            {`{"path":"a","free":"{\"k\":1}"}`, `{"free":{"k":1},"path":"a"}`, `free: the string {"k":1} was read as JSON`},
		"optional null":     {`{"path":"a","from":null}`, `{"path":"a"}`, "from: null was left out"},
		"null wanted":       {`{"path":"a","old":null}`, `{"old":null,"path":"a"}`, ""},
		"single value":      {`{"path":"a","tags":"x"}`, `{"path":"a","tags":["x"]}`, "tags: a single value was put in a list"},
		"single object":     {`{"path":"a","edits":{"old":"o","new":"n"}}`, `{"edits":[{"new":"n","old":"o"}],"path":"a"}`, "edits: a single value was put in a list"},
		"nested":            {`{"path":"a","edits":["{\"old\":\"o\",\"new\":\"n\"}"]}`, `{"edits":[{"new":"n","old":"o"}],"path":"a"}`, `edits[0]: the string {"old":"o","new":"n"} was read as JSON`},
		"string stays":      {`{"path":"12"}`, `{"path":"12"}`, ""},
		"pair":              {`{"path":"\ud83d\ude00"}`, `{"path":"😀"}`, ""},
		"escaped escape":    {`{"path":"\\ud83d"}`, `{"path":"\\ud83d"}`, ""},
		"whole is a string": {`"{\"path\":\"a\"}"`, `{"path":"a"}`, `arguments: the string {"path":"a"} was read as JSON`},
	} {
		p := editor(t).Prepare(call("edit", c.in))
		if p.Refused != nil {
			t.Errorf("%s: refused: %s", name, p.Refused.Text)
			continue
		}
		want(t, name, string(p.Call.Args), c.out)
		want(t, name+" coerced", strings.Join(p.Coerced, "; "), c.coerced)
	}
}

// contract 16, contract 17
func TestRefusedArguments(t *testing.T) {
	deep := strings.Repeat(`{"free":`, 70) + "1" + strings.Repeat("}", 70)
	for name, c := range map[string]struct{ in, says string }{
		"duplicate key":     {`{"path":"a","path":"b"}`, "path: the key stands twice"},
		"nested duplicate":  {`{"path":"a","free":{"k":1,"k":2}}`, "free.k: the key stands twice"},
		"coerced duplicate": {`{"path":"a","free":"{\"k\":1,\"k\":2}"}`, "free: got string, want object"},
		"NUL":               {`{"path":"a\u0000"}`, "path: it contains NUL"},
		"NUL in a key":      {`{"path":"a","\u0000":1}`, `\0: it contains NUL`},
		"not JSON":          {`{"path":`, "not JSON"},
		"not JSON in key":   {`{"path":"a",3:1}`, "not JSON"},
		"not JSON in list":  {`{"path":"a","tags":[1,}`, "not JSON"},
		"words":             {`path=a`, "not JSON"},
		"two values":        {`{"path":"a"} {}`, "something follows"},
		"UTF-8":             {"{\"path\":\"\xff\"}", "not valid UTF-8"},
		"half pair":         {`{"path":"\ud83d x"}`, "surrogate"},
		"other half":        {`{"path":"\ude00"}`, "surrogate"},
		"deep":              {deep, "nested deeper than 64"},
		"huge number":       {`{"path":"a","ratio":1e999}`, "ratio: the number is too large"},
		"long number":       {`{"path":"a","from":` + strings.Repeat("9", 101) + `}`, "from: the number is too long"},
		"list":              {`[1]`, "got array, want object"},
		"null":              {`null`, "got null, want object"},
		"required null":     {`{"path":null}`, "path: got null, want string"},
		"missing":           {`{}`, "missing property 'path'"},
		"nothing":           {``, "missing property 'path'"},
		"wrong type":        {`{"path":1}`, "path: got number, want string"},
		"blanks":            {`{"path":"a","from":" 1"}`, "from: got string, want integer"},
		"not exactly":       {`{"path":"a","from":"1x"}`, "from: got string, want integer"},
		"fraction":          {`{"path":"a","from":"1.5"}`, "from: got string, want integer"},
		"yes":               {`{"path":"a","replace_all":"yes"}`, "replace_all: got string, want boolean"},
		"range":             {`{"path":"a","from":0}`, "from: minimum: got 0, want 1"},
		"several":           {`{"from":"x"}`, "from: got string, want integer"},
		"alias":             {`{"file_path":"a"}`, "file_path: unknown field (use path)"},
		"near":              {`{"paht":"a"}`, "paht: unknown field (use path)"},
		"case":              {`{"Path":"a"}`, "Path: unknown field (use path)"},
		"far":               {`{"path":"a","zzzzzzzzzz":1}`, "zzzzzzzzzz: unknown field (fields: edits, free, from, old"},
		"nested alias":      {`{"path":"a","edits":[{"old_string":"a","new_string":"b"}]}`, "edits[0].old_string: unknown field (use old)"},
	} {
		p := editor(t).Prepare(call("edit", c.in))
		if p.Refused == nil || p.Refused.Fault != tools.Validation || !strings.Contains(p.Refused.Text, c.says) {
			t.Errorf("%s: got %+v, want %q", name, p.Refused, c.says)
		}
		if p.Refused != nil && (strings.Contains(p.Refused.Text, "\n") || p.Digest == "") {
			t.Errorf("%s: text %q, digest %q", name, p.Refused.Text, p.Digest)
		}
	}
}

// contract 16, PM04: hints come only from the ant's own registry
func TestUnknownToolIsAnsweredWithTheRightName(t *testing.T) {
	r := editor(t)
	for name, says := range map[string]string{
		"bash": `there is no tool "bash": use sh`, "shell": "use sh", "apply_patch": "use edit", "str_replace": "use edit",
		"Read": "use read", "reed": "use read", "grep": "use find",
		"kubernetes_everything": "Yours are: edit, find, read, sh",
	} {
		p := r.Prepare(call(name, `{}`))
		if p.Refused == nil || p.Refused.Fault != tools.Validation || !strings.Contains(p.Refused.Text, says) {
			t.Errorf("%s: got %+v, want %q", name, p.Refused, says)
		}
	}
	p := child(t, r, "read").Prepare(call("bash", `{}`))
	if strings.Contains(p.Refused.Text, "sh:") || strings.Contains(p.Refused.Text, "use sh") {
		t.Errorf("a hidden tool is named: %s", p.Refused.Text)
	}
}

// contract 17: the digest is of the bytes that run
func TestDigestIsOfTheCoercedBytes(t *testing.T) {
	r := editor(t)
	first := r.Prepare(call("edit", `{"path":"a","from":2}`))
	same := r.Prepare(call("edit", ` {"from":"2", "path":"a"} `))
	other := r.Prepare(call("edit", `{"path":"a","from":3}`))
	if first.Digest != same.Digest || first.Digest == other.Digest || len(first.Digest) != 64 {
		t.Errorf("digests %s %s %s", first.Digest, same.Digest, other.Digest)
	}
}

func TestSchemasOfStrangers(t *testing.T) {
	for name, c := range map[string]struct{ schema, args, says string }{
		"reads no files": {`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, `{"a":1}`, "schema of x is broken"},
		"open":           {`{"type":"object","properties":{"a":{}},"additionalProperties":true}`, `{"b":1}`, ""},
		"combined":       {`{"type":"object","properties":{"a":{}},"anyOf":[{"required":["b"]}]}`, `{"b":1}`, ""},
		"says nothing":   {`{"type":"object","properties":{"a":{}}}`, `{"b":1}`, "b: unknown field"},
		"no fields":      {`{"type":"object","properties":{}}`, `{"query":1}`, "it takes no arguments"},
		"free":           {`{"type":"object"}`, `{"b":1}`, ""},
		"no arguments":   {`{"type":"object","properties":{}}`, ``, ""},
		"odd types":      {`{"type":"object","properties":{"a":{"type":["integer","string"]}}}`, `{"a":"1"}`, ""},
	} {
		r := tools.NewRegistry(&bytes.Buffer{})
		must(t, r.RegisterDeferred("mcp", withSchema("x", c.schema)))
		r.Load("x")
		p := r.Prepare(call("x", c.args))
		got := ""
		if p.Refused != nil {
			got = p.Refused.Text
		}
		if !strings.Contains(got, c.says) || (c.says == "") != (got == "") {
			t.Errorf("%s: got %q, want %q", name, got, c.says)
		}
	}
}

func TestDecodeArgs(t *testing.T) {
	var into struct {
		Path string
		From int
	}
	must(t, tools.DecodeArgs(json.RawMessage(`{"path":"a","from":2}`), &into))
	if into.Path != "a" || into.From != 2 {
		t.Errorf("got %+v", into)
	}
	for args, says := range map[string]string{
		`{"path":1}`: "Path: number does not fit", `{"other":1}`: `unknown field "other"`, `{`: "unexpected", `{} {}`: "follows",
	} {
		err := tools.DecodeArgs(json.RawMessage(args), &into)
		if _, wrong := err.(*tools.ArgError); !wrong || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", args, err)
		}
	}
}

// FuzzPrepare: what is taken is canonical, has no NUL, is taken again as it stands, and keeps its digest.
func FuzzPrepare(f *testing.F) {
	for _, seed := range []string{`{"path":"a"}`, `{"path":"a","edits":"[]"}`, `{"path":"\u0000"}`, `{"path":"a","path":"b"}`, `"\"\\ud800\""`, `{"path":"a","from":"1e2"}`} {
		f.Add([]byte(seed))
	}
	r := editor(f)
	f.Fuzz(func(t *testing.T, args []byte) {
		p := r.Prepare(tools.Call{Name: "edit", Args: args})
		if p.Refused != nil {
			if p.Refused.Fault != tools.Validation || p.Refused.Text == "" {
				t.Fatalf("refused as %+v", p.Refused)
			}
			return
		}
		if !utf8.Valid(p.Call.Args) || bytes.ContainsRune(p.Call.Args, 0) || !json.Valid(p.Call.Args) {
			t.Fatalf("taken: %q", p.Call.Args)
		}
		again := r.Prepare(p.Call)
		if again.Refused != nil || again.Digest != p.Digest || len(again.Coerced) > 0 || !bytes.Equal(again.Call.Args, p.Call.Args) {
			t.Fatalf("%s and then %+v", p.Call.Args, again)
		}
	})
}

// Prepare touches nothing: a tool is asked for nothing but its spec, and only when it registers.
func TestPrepareAsksTheToolNothing(t *testing.T) {
	r := registry(t)
	boom := func() { t.Error("the tool was asked") }
	must(t, r.Register("s", toolstest.Fake{
		Is:    tools.Spec{Name: "x"},
		Safe:  func(json.RawMessage) bool { boom(); return true },
		Touch: func(*tools.Env, json.RawMessage) (tools.Effects, error) { boom(); return tools.Effects{}, nil },
		Do: func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
			boom()
			return tools.Result{}, nil
		},
	}))
	r.Prepare(call("x", `{}`))
}
