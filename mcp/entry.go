package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Where the sessions of a server belong: every ant has one of its own, or all ants of a run share one.
const (
	PerAnt    = "ant"
	PerColony = "colony"
)

// Entry is a server as a file of the .mcp.json format describes it.
type Entry struct {
	Name    string
	Command string // of a server that is a process; empty for one that is reached by URL
	Args    []string
	Env     map[string]string
	URL     string
	Headers map[string]string
	Bearer  string        // the variable of the user's environment that holds its token
	Per     string        // PerAnt or PerColony
	Timeout time.Duration // of one call; 0 is the setting's
	Grades  map[string]Grade
	Ignored []string // keys that are there and have no effect
	Wrong   error    // why it cannot be used; nil where it can
}

// Grade is what the user says of a tool. A server's own hints are never taken for it.
type Grade struct{ ReadOnly, Noncredential, Idempotent bool }

// The words of a grade.
const (
	readOnly      = "read-only"
	noncredential = "noncredential"
	idempotent    = "idempotent"
)

// wireEntry is an entry as it is written.
type wireEntry struct {
	Type    string              `json:"type,omitempty"`
	Command string              `json:"command,omitempty"`
	Args    []string            `json:"args,omitempty"`
	Env     map[string]string   `json:"env,omitempty"`
	URL     string              `json:"url,omitempty"`
	Headers map[string]string   `json:"headers,omitempty"`
	Bearer  string              `json:"bearer_env,omitempty"`
	Per     string              `json:"per,omitempty"`
	Timeout int64               `json:"timeout,omitempty"` // milliseconds
	Grades  map[string][]string `json:"grades,omitempty"`
}

// Bounds of a file of servers.
const (
	maxFile    = 1 << 20
	maxEntries = 100
	maxTimeout = time.Hour
)

var entryName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$`)

// CheckName says what is wrong with the name of a server: it is a part of its tools' names, and has to be found in them.
func CheckName(name string) error {
	if !entryName.MatchString(name) || strings.Contains(name, "__") {
		return fmt.Errorf("%q cannot name a server: take at most 32 letters, digits, dashes and single underscores, with a letter or digit at both ends", name)
	}
	return nil
}

// ParseFile reads the servers of a file, by name. One that cannot be used says why, and is one all the same: other programs may
// know what to do with it.
func ParseFile(data []byte) ([]Entry, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("it has %d bytes, at most %d", len(data), maxFile)
	}
	if err := unique(data); err != nil {
		return nil, err
	}
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	var keys map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(data, &keys), json.Unmarshal(data, &file)); err != nil {
		return nil, fmt.Errorf("it is not of the form {\"mcpServers\": {\"name\": {…}}}: %w", err)
	}
	if _, err := others(keys, "mcpServers"); err != nil {
		return nil, err
	}
	if len(file.Servers) > maxEntries {
		return nil, fmt.Errorf("it names %d servers, at most %d", len(file.Servers), maxEntries)
	}
	var all []Entry
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		e, err := parseEntry(name, file.Servers[name])
		if err != nil {
			e = Entry{Name: clip(Visible(name), 50), Wrong: err}
		}
		all = append(all, e)
	}
	return all, nil
}

// Faults are why entries cannot be used, together; nil where all can.
func Faults(entries []Entry) error {
	var faults []error
	for _, e := range entries {
		if e.Wrong != nil {
			faults = append(faults, fmt.Errorf("server %q: %w", e.Name, e.Wrong))
		}
	}
	return errors.Join(faults...)
}

// others are the keys beside the known ones, in order. One that differs from a known key only in its case is refused: some
// programs read it as that key, this one among them.
func others(keys map[string]json.RawMessage, known ...string) ([]string, error) {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.Contains(known, key) {
			continue
		}
		if at := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, key) }); at >= 0 {
			return nil, fmt.Errorf("the key %q is spelt %q", clip(Visible(key), 50), known[at])
		}
		out = append(out, key)
	}
	return out, nil
}

func parseEntry(name string, data json.RawMessage) (Entry, error) {
	if err := CheckName(name); err != nil {
		return Entry{}, err
	}
	var w wireEntry
	var keys map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(data, &w), json.Unmarshal(data, &keys)); err != nil {
		return Entry{}, err
	}
	e := Entry{
		Name: name, Command: w.Command, Args: w.Args, Env: w.Env, URL: w.URL, Headers: w.Headers, Bearer: w.Bearer, Per: w.Per,
		Timeout: time.Duration(w.Timeout) * time.Millisecond, Grades: map[string]Grade{},
	}
	more, err := others(keys, "type", "command", "args", "env", "url", "headers", "bearer_env", "per", "timeout", "grades")
	if err != nil {
		return Entry{}, err
	}
	for _, key := range more {
		e.Ignored = append(e.Ignored, clip(Visible(key), 50))
	}
	for tool, words := range w.Grades {
		grade, err := parseGrade(words)
		if err != nil {
			return Entry{}, fmt.Errorf("grades of %s: %w", tool, err)
		}
		e.Grades[tool] = grade
	}
	return e.settled(w.Type)
}

// settled is the entry with its defaults, where nothing is wrong with it.
func (e Entry) settled(kind string) (Entry, error) {
	switch {
	case (e.Command == "") == (e.URL == ""):
		return Entry{}, errors.New("it needs a command, or a url")
	case kind == "sse":
		return Entry{}, errors.New("the transport sse is no more: use http, the streamable one")
	case kind == "stdio" && e.Command == "", kind == "http" && e.URL == "":
		return Entry{}, fmt.Errorf("type %s does not fit what it has", kind)
	case kind != "" && kind != "stdio" && kind != "http":
		return Entry{}, fmt.Errorf("type %q: there are stdio and http", kind)
	case e.Timeout < 0 || e.Timeout > maxTimeout:
		return Entry{}, fmt.Errorf("a call may take between 1 ms and %s", maxTimeout)
	case e.Per != "" && e.Per != PerAnt && e.Per != PerColony:
		return Entry{}, fmt.Errorf("per %q: there are ant and colony", e.Per)
	case e.Command != "" && (e.Bearer != "" || len(e.Headers) > 0):
		return Entry{}, errors.New("headers and bearer_env are for a url")
	case e.Bearer != "" && !variable.MatchString(e.Bearer):
		return Entry{}, errors.New("bearer_env is not the name of a variable")
	case e.URL != "" && (len(e.Env) > 0 || len(e.Args) > 0):
		return Entry{}, errors.New("args and env are for a command")
	}
	if e.Per == "" {
		e.Per = PerAnt
		if e.URL != "" {
			e.Per = PerColony
		}
	}
	for name := range e.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return Entry{}, fmt.Errorf("%q cannot name a variable", name)
		}
	}
	if !strings.Contains(e.URL, "${") {
		if _, err := e.address(); err != nil {
			return Entry{}, err
		}
	}
	return e, nil
}

// address is the URL, of which this process makes requests.
func (e Entry) address() (*url.URL, error) {
	u, err := url.Parse(e.URL)
	if err == nil && e.URL != "" && (u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil) {
		err = errors.New("the url is not http://host or https://host without a name and password in it")
	}
	return u, err
}

func parseGrade(words []string) (g Grade, err error) {
	for _, word := range words {
		switch word {
		case readOnly:
			g.ReadOnly = true
		case noncredential:
			g.Noncredential = true
		case idempotent:
			g.Idempotent = true
		default:
			return g, fmt.Errorf("%q: there are %s, %s and %s", word, readOnly, noncredential, idempotent)
		}
	}
	return g, nil
}

// JSON is the entry as a file holds it.
func (e Entry) JSON() (json.RawMessage, error) {
	w := wireEntry{Command: e.Command, Args: e.Args, Env: e.Env, URL: e.URL, Headers: e.Headers, Bearer: e.Bearer, Timeout: e.Timeout.Milliseconds()}
	if e.Per == PerColony && e.URL == "" || e.Per == PerAnt && e.URL != "" {
		w.Per = e.Per
	}
	if _, err := e.settled(""); err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

// What is what the entry starts or reaches, for people: no variable is replaced by its value.
func (e Entry) What() string {
	if e.Wrong != nil {
		return "cannot be used: " + Visible(e.Wrong.Error())
	}
	if e.URL != "" {
		return Visible(e.URL)
	}
	return Visible(strings.Join(append([]string{e.Command}, e.Args...), " "))
}
