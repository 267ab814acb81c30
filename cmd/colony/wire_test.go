package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"colony/model/scripted"
)

const wireScenario = `name: any
cards:
  "*":
    a:
      - calls:
          - {tool: read, args: {path: pic.png}}
          - {tool: sh, args: {command: 'echo gone > pic.png'}}
          - {tool: read, args: {path: base.txt}}
          - {tool: edit, args: {path: base.txt, old: two, new: TWO}}
          - {tool: find, args: {content: TWO}}
          - {tool: read, args: {path: nowhere}}
      - calls: [{tool: done, args: {summary: edited}}]
`

// contracts 15, 21 and 22: tools are advertised and results come back as each wire has it, with the call's id and whether it
// went wrong. What is drawn, the hashes of what changed and the image's later bytes never reach the model; its text and the
// image as it was when it was read do, over every wire.
func TestOnlyTextAndImagesReachTheModel(t *testing.T) {
	t.Parallel()
	var pic bytes.Buffer
	if err := png.Encode(&pic, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ env, says []string }{
		"chat": {[]string{"openai/any", "OPENAI_API_KEY=x", "COLONY_PROVIDERS_OPENAI_BASE_URL="},
			[]string{`"function":{"name":"edit","description":"Replaces exact`, `"tool_call_id":"call_0_5"`, "error: read nowhere: no such file"}},
		"responses": {[]string{"openai/any", "COLONY_PROVIDERS_OPENAI_WIRE=responses", "OPENAI_API_KEY=x", "COLONY_PROVIDERS_OPENAI_BASE_URL="},
			[]string{`"name":"edit"`, `"type":"function"`, `"call_id":"call_0_5","output":"error: read nowhere: no such file`}},
		"messages": {[]string{"anthropic/any", "ANTHROPIC_API_KEY=x", "COLONY_PROVIDERS_ANTHROPIC_BASE_URL="},
			[]string{`"name":"edit","description":"Replaces exact`, `"input_schema":{`, `"tool_use_id":"call_0_5"`, `"is_error":true`}},
	} {
		t.Run(name, func(t *testing.T) {
			env := c.env
			t.Parallel()
			scenario, err := scripted.Parse("any", []byte(wireScenario))
			if err != nil {
				t.Fatal(err)
			}
			server, err := scripted.Serve(context.Background(), scripted.Parts{Scenarios: []scripted.Scenario{scenario}, Record: true})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			env[len(env)-1] += server.URL
			dir := t.TempDir()
			for path, text := range map[string]string{
				"plan.yaml": "tasks: [{id: a, prompt: A.}]\n", "home/.gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.test\n",
				"repo/base.txt": "one\ntwo\n", "repo/pic.png": pic.String(),
			} {
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var log []byte
			for _, argv := range [][]string{{"git", "init", "-q"}, {"git", "add", "-A"}, {"git", "commit", "-qm", "base"},
				{filepath.Join(built, "colony"), "run", "-f", filepath.Join(dir, "plan.yaml"), "--json", "--model", env[0], "--no-gate"}} {
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Dir = filepath.Join(dir, "repo")
				cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb"}, env[1:]...)
				var said bytes.Buffer
				cmd.Stderr = &said
				if log, err = cmd.Output(); err != nil {
					t.Fatalf("%v: %v: %s", argv, err, said.String())
				}
			}
			hash := fmt.Sprintf("%x", sha256.Sum256([]byte("one\nTWO\n")))
			drawn := []string{"+++ b/base.txt", `"unified"`, `"items":[{"path":"base.txt"`, hash}
			for _, says := range drawn {
				if !bytes.Contains(log, []byte(says)) {
					t.Errorf("the log has no %s", says)
				}
			}
			var sent []byte
			for _, r := range server.Received() {
				sent = append(sent, bytes.ReplaceAll(r.Body, []byte(`\`), nil)...) // text stands in JSON, and its quotes behind backslashes
			}
			for _, says := range append(drawn, base64.StdEncoding.EncodeToString([]byte("gone\n"))) {
				if bytes.Contains(sent, []byte(says)) {
					t.Errorf("the model was sent %s", says)
				}
			}
			for _, says := range append(c.says, base64.StdEncoding.EncodeToString(pic.Bytes()), "edited base.txt: 1 edit at line 2", `1 matching line in 1 file`) {
				if !strings.Contains(string(sent), says) {
					t.Errorf("the model was not sent %s", says)
				}
			}
		})
	}
}
