package hatch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"colony/mcp"
)

// Servers are the servers that there are: those that a card may name, and those of a repository's file that is not trusted.
func (h *House) Servers() ([]mcp.Shown, error) {
	list := []mcp.Shown{}
	for _, s := range h.servers {
		list = append(list, s.Show(s.source, true))
	}
	for _, f := range h.Untrusted {
		if !f.isServers() {
			continue
		}
		entries, err := mcp.ParseFile(f.Data)
		if err != nil {
			return nil, badServers(f.Path, err)
		}
		for _, e := range entries {
			list = append(list, e.Show(f.Path, false))
		}
	}
	return list, nil
}

// AddServer writes an entry into the user's file, which no other command changes meanwhile, and returns where that is.
func (h *House) AddServer(e mcp.Entry) (string, error) {
	data, err := e.JSON()
	if err != nil {
		return "", badServer(e.Name, err)
	}
	return h.changeServers(func(servers map[string]json.RawMessage) error {
		if _, there := servers[e.Name]; there {
			return &Problem{Exit: 2, Code: "bad_server", Message: "you have a server " + e.Name + " already", Next: "colony mcp remove " + e.Name + ", or give another name"}
		}
		servers[e.Name] = data
		return nil
	})
}

// RemoveServer takes an entry out of the user's file, and forgets what was seen of its tools.
func (h *House) RemoveServer(name string) (string, error) {
	file, err := h.changeServers(func(servers map[string]json.RawMessage) error {
		if _, there := servers[name]; !there {
			return noServer(name)
		}
		delete(servers, name)
		return nil
	})
	if err != nil {
		return "", err
	}
	return file, h.pins(server{Entry: mcp.Entry{Name: name}, users: true}).Forget()
}

func badServer(name string, err error) error {
	return &Problem{Exit: 2, Code: "bad_server", Message: fmt.Sprintf("server %s: %s", mcp.Visible(name), mcp.Visible(err.Error())), Next: "colony mcp add --help"}
}

func noServer(name string) error {
	return &Problem{Exit: 2, Code: "no_server", Message: "there is no MCP server " + mcp.Visible(name), Next: "colony mcp list"}
}

// changeServers changes the servers of the user's file. What else the file holds stays.
func (h *House) changeServers(change func(map[string]json.RawMessage) error) (string, error) {
	file := filepath.Join(h.Config, userServers)
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	whole, servers := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err == nil {
		if entries, err := mcp.ParseFile(data); cmp.Or(err, mcp.Faults(entries)) != nil {
			err = cmp.Or(err, mcp.Faults(entries))
			return "", badServers(file, err)
		}
		if err := json.Unmarshal(data, &whole); err != nil {
			return "", badServers(file, err)
		}
	}
	if written := whole["mcpServers"]; written != nil {
		if err := json.Unmarshal(written, &servers); err != nil {
			return "", badServers(file, err)
		}
	}
	if err := change(servers); err != nil {
		return "", err
	}
	if whole["mcpServers"], err = json.Marshal(servers); err != nil {
		return "", err
	}
	if data, err = json.MarshalIndent(whole, "", "  "); err != nil {
		return "", err
	}
	return file, mcp.WriteFile(file, append(data, '\n'))
}
