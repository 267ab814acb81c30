package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const realScenario = `name: any
cards:
  talker:
    a:
      - calls:
          - {tool: tool_search, args: {query: "select:mcp__all__echo,mcp__all__get-env,mcp__all__get-tiny-image,mcp__all__get-roots-list,mcp__files__write_file,mcp__files__read_text_file,mcp__memory__create_entities,mcp__memory__read_graph"}}
      - calls:
          - {tool: mcp__all__echo, args: {message: hello}}
          - {tool: mcp__all__get-env, args: {}}
          - {tool: mcp__all__get-tiny-image, args: {}}
          - {tool: mcp__all__get-roots-list, args: {}}
          - {tool: mcp__files__write_file, args: {path: landed.txt, content: "by a server\n"}}
          - {tool: mcp__files__read_text_file, args: {path: landed.txt}}
          - {tool: mcp__files__write_file, args: {path: .git/config, content: "x"}}
          - {tool: mcp__files__read_text_file, args: {path: /etc/passwd}}
          - {tool: mcp__memory__create_entities, args: {entities: [{name: Ada, entityType: person, observations: [counts]}]}}
          - {tool: mcp__memory__read_graph, args: {}}
      - calls: [{tool: done, args: {summary: talked}}]
`

// MC08, S8: servers that others made work in the sandbox of an ant, and none of the user's secrets is in their environment.
func TestRealServersInARun(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not here: the servers of others are not tried")
	}
	modules, err := filepath.Abs("../../.cache/servers/node_modules/@modelcontextprotocol")
	if err == nil {
		_, err = os.Stat(modules)
	}
	if unseen(modules) {
		t.Skip("a sandboxed process does not see what lies in /tmp: the servers there are not tried")
	}
	if err != nil {
		t.Skip("the servers of others are not installed: make servers does it")
	}
	w := newCanaryWorld(t, realScenario)
	entry := func(name, server, more string) string {
		return fmt.Sprintf(`%q: {"command": %q, "args": [%q, %s]}`, name, node, filepath.Join(modules, server, "dist", "index.js"), more)
	}
	memory := strings.TrimSuffix(entry("memory", "server-memory", `"."`), "}") + `, "env": {"MEMORY_FILE_PATH": "/tmp/memory.jsonl"}}`
	w.put("home/.config/colony/mcp.json", `{"mcpServers": {`+strings.Join([]string{entry("all", "server-everything", `"stdio"`), entry("files", "server-filesystem", `"."`), memory}, ", ")+`}}`)
	w.put("home/.config/colony/config.yaml", "mcp: {start: 1m}\n")
	w.put("home/.config/colony/cards/talker.yaml", "name: talker\ndescription: Talks.\nprompt: Talk.\ntools: [tool_search, \"mcp__*\", done]\n"+
		"mcp: {servers: [all, files, memory]}\npermissions: {allow: [\"mcp__*\"]}\n")
	out := w.run("colony", "run", "-f", filepath.Join(w.dir, "plan.yaml"), "--card", "talker", "--model", "openai/any", "--gate", "true", "--run-id", "r-real", "--json")
	for _, want := range []string{
		`"tool":"mcp__all__echo","fault":"","text":"From the MCP server all, `, `"tool":"mcp__all__get-env","fault":"","text":"`, `[image 1: image/png`, `talker-1.1`,
		`"tool":"mcp__files__write_file","fault":"",`, `by a server`, `"tool":"mcp__files__write_file","fault":"validation",`, `"tool":"mcp__files__read_text_file","fault":"validation",`,
		`"tool":"mcp__memory__read_graph","fault":"","text":"`, `"status":"landed"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %s: %s", want, out)
		}
	}
	environment := ""
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"type":"tool.done"`) && strings.Contains(line, `"tool":"mcp__all__get-env"`) {
			environment = line
		}
	}
	for _, name := range []string{"OPENAI_API_KEY", "MY_TOKEN", "XDG_", "COLONY_", "USER", "GOCACHE", "redacted"} {
		if strings.Contains(environment, name) {
			t.Errorf("a server sees %s: %s", name, environment)
		}
	}
}
