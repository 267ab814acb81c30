package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"colony/model"
	"colony/model/scripted"
)

// Sources say where the fields of a wire stand: in types of the official client, or on a page.
type Sources struct {
	Request, Event any               // a zero value of the client's type; nil where there is no client
	Docs           map[string]string // pages, by the beginning of a path such as `request tools[]`
}

// Transcript plays a recorded conversation: the provider sends what stands there, byte for byte, and makes of the streams
// what stands there. Every field that goes over the wire in it has a source, a field of the client's types or a page. With
// COLONY_GOLDEN=write it is recorded anew, from a scripted server.
func Transcript(t *testing.T, dial Dial, s Sources) {
	file := filepath.Join("testdata", strings.ReplaceAll(t.Name(), "/", "-")+".txtar")
	if os.Getenv("COLONY_GOLDEN") == "write" {
		converse(t, dial, s, file)
	}
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range archive.Files {
		files[f.Name] = f.Data
	}
	told := map[string]string{}
	for line := range strings.Lines(string(files["fields"])) {
		path, source, _ := strings.Cut(strings.TrimSpace(line), " <- ")
		told[path] = source
	}
	for path := range pathsOf(t, files) {
		switch source := told[path]; {
		case source == "":
			t.Errorf("the field %q has no source", path)
		case source != s.of(path):
			t.Errorf("the field %q is said to be %s, which is %q", path, source, s.of(path))
		}
	}
	talk(t, dial, "http://nobody.invalid/v1", func(turn int, body []byte) ([]byte, error) {
		if want := bytes.TrimSpace(files[fmt.Sprint(turn, ".request")]); !bytes.Equal(bytes.TrimSpace(body), want) {
			t.Errorf("request %d:\ngot  %s\nwant %s", turn, body, want)
		}
		return files[fmt.Sprint(turn, ".stream")], nil
	}, func(turn int, got model.Reply) {
		if want := bytes.TrimSpace(files[fmt.Sprint(turn, ".reply")]); !bytes.Equal(replyJSON(t, got), want) {
			t.Errorf("reply %d:\ngot  %s\nwant %s", turn, replyJSON(t, got), want)
		}
	})
}

// talk goes through the three turns of the suite's conversation. Send gets what the provider sends.
func talk(t *testing.T, dial Dial, url string, send func(int, []byte) ([]byte, error), heard func(int, model.Reply)) {
	t.Helper()
	turn := 0
	p, err := dial.open(url, transport(func(r *http.Request) (*http.Response, error) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body, err := send(turn, sent)
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r, Body: io.NopCloser(bytes.NewReader(body)),
		}, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	req := ask("turns")
	req.Effort, req.CacheKey = "low", "worker"
	for turn = range 3 {
		got, err := p.Complete(t.Context(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		heard(turn, got)
		req.Messages = append(req.Messages, got.Message)
		for i, c := range got.Message.Calls {
			req.Messages = append(req.Messages, model.Message{Role: model.Tool, CallID: c.ID, Text: fmt.Sprintf("result %d", i), IsError: i == 1})
		}
	}
}

func replyJSON(t *testing.T, r model.Reply) []byte {
	t.Helper()
	data, err := json.Marshal(struct {
		Message model.Message
		Finish  model.Finish
		Usage   model.Usage
	}{r.Message, r.Finish, r.Usage})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// converse records the conversation.
func converse(t *testing.T, dial Dial, s Sources, file string) {
	t.Helper()
	parsed, err := scripted.Parse("suite.yaml", scenario)
	if err != nil {
		t.Fatal(err)
	}
	server, err := scripted.Serve(t.Context(), scripted.Parts{Scenarios: []scripted.Scenario{parsed}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	files := map[string][]byte{}
	inner := &http.Transport{DisableKeepAlives: true}
	path := ""
	p, err := dial.open(server.URL, transport(func(r *http.Request) (*http.Response, error) { // where this wire sends to
		path = r.URL.Path
		return nil, fmt.Errorf("not sent")
	}))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.Complete(t.Context(), ask("turns"), nil) // only the path is wanted
	talk(t, dial, server.URL, func(turn int, body []byte) ([]byte, error) {
		files[fmt.Sprint(turn, ".request")] = append(bytes.TrimSpace(body), '\n')
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(server.URL, "/v1")+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		resp, err := inner.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		stream, err := io.ReadAll(resp.Body)
		files[fmt.Sprint(turn, ".stream")] = stream
		return stream, err
	}, func(turn int, got model.Reply) { files[fmt.Sprint(turn, ".reply")] = append(replyJSON(t, got), '\n') })
	var fields strings.Builder
	for _, path := range slices.Sorted(maps.Keys(pathsOf(t, files))) {
		fmt.Fprintf(&fields, "%s <- %s\n", path, s.of(path))
	}
	files["fields"] = []byte(fields.String())
	archive := &txtar.Archive{Comment: []byte("A conversation as it goes over this wire, and where each of its fields stands. Recorded from the scripted server.\n")}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: files[name]})
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pathsOf are the paths of all fields in the requests and the streams. What a schema or the arguments of a call hold is the
// tools' own.
func pathsOf(t *testing.T, files map[string][]byte) map[string]bool {
	t.Helper()
	paths := map[string]bool{}
	for name, data := range files {
		kind := ""
		switch {
		case strings.HasSuffix(name, ".request"):
			kind = "request"
		case strings.HasSuffix(name, ".stream"):
			kind = "event"
		default:
			continue
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
			var v any
			if strings.HasPrefix(line, "{") {
				if err := json.Unmarshal([]byte(line), &v); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				collect(v, kind, paths)
			}
		}
	}
	return paths
}

// opaque are the fields whose values are not of the wire.
var opaque = []string{"parameters", "input_schema", "input", "arguments"}

func collect(v any, at string, paths map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			path := at + " " + key
			paths[path] = true
			if _, object := inner.(map[string]any); !object || !slices.Contains(opaque, key) {
				collect(inner, path, paths)
			}
		}
	case []any:
		for _, inner := range v {
			collect(inner, at+"[]", paths)
		}
	}
}

// of is the source of a path; empty where it has none.
func (s Sources) of(path string) string {
	words := strings.Fields(strings.ReplaceAll(path, "[]", ""))
	root := s.Event
	if words[0] == "request" {
		root = s.Request
	}
	if root != nil {
		if found := field([]reflect.Type{reflect.TypeOf(root)}, words[1:]); found != "" {
			return found
		}
	}
	best := ""
	for prefix := range s.Docs {
		if strings.HasPrefix(path+" ", prefix+" ") && len(prefix) > len(best) {
			best = prefix
		}
	}
	return s.Docs[best]
}

// field is the field of one of the types to which a path of JSON names leads.
func field(types []reflect.Type, names []string) string {
	found, inner := "", []reflect.Type{}
	for _, typ := range types {
		for _, owned := range fieldsOf(typ, 0) {
			tag, _, _ := strings.Cut(owned.field.Tag.Get("json"), ",")
			if tag == names[0] {
				inner = append(inner, owned.field.Type)
				if found == "" {
					found = owned.owner.String() + "." + owned.field.Name
				}
			}
		}
	}
	if len(names) == 1 || found == "" {
		return found
	}
	return field(inner, names[1:])
}

type ownedField struct {
	owner reflect.Type
	field reflect.StructField
}

// fieldsOf are the fields of a struct, and of what it holds inline; of a list, those of its elements.
func fieldsOf(typ reflect.Type, depth int) (all []ownedField) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || depth > 4 {
		return nil
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() && !f.Anonymous || name == "-":
		case f.Anonymous || strings.Contains(rest, "inline"):
			all = append(all, fieldsOf(f.Type, depth+1)...)
		default:
			all = append(all, ownedField{typ, f})
		}
	}
	return all
}
