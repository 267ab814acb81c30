// Package view is the closed set of things a screen can draw. A tool attaches views to its result
// beside the text that the model reads; a view is never sent to a model.
package view

// View is one of Diff, Matches, Exit, Problems, Page and JSON.
type View interface{ kind() string }

// Diff is a change of one file as a unified diff.
type Diff struct {
	Path    string `json:"path"`
	Unified string `json:"unified"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// Match is one line that a search found. Line counts from 1; 0 means that the file itself matched.
type Match struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
}

// Matches is what a search found. Total is the true number, also where Items was cut.
type Matches struct {
	Items []Match `json:"items"`
	Total int     `json:"total"`
}

// Exit is a command that ended.
type Exit struct {
	Command string `json:"command"`
	Code    int    `json:"code"`
	Ms      int64  `json:"ms"`
}

// Problem is one diagnostic. Line and Column count from 1.
type Problem struct {
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Text     string `json:"text"`
	New      bool   `json:"new"`
}

// Problems are the diagnostics that an edit brought or left.
type Problems struct {
	Items []Problem `json:"items"`
	Fresh bool      `json:"fresh"`
}

// Page is a document that was fetched.
type Page struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// JSON is structured content that has no view of its own. Text is the JSON itself.
type JSON struct {
	Text string `json:"text"`
}

func (Diff) kind() string     { return "diff" }
func (Matches) kind() string  { return "matches" }
func (Exit) kind() string     { return "exit" }
func (Problems) kind() string { return "problems" }
func (Page) kind() string     { return "page" }
func (JSON) kind() string     { return "json" }
