package event

import (
	"encoding/json"

	"colony/view"
)

// AntHatched is an ant that begins, or an attempt of one.
type AntHatched struct {
	Card     string   `json:"card"`
	CardHash string   `json:"card_sha256"`
	System   string   `json:"system_sha256"`
	Tools    []string `json:"tools"` // wire order
	ToolsSum string   `json:"tools_sha256"`
	Model    string   `json:"model"`
	Worktree string   `json:"worktree"`
	Parent   string   `json:"parent"`
	Attempt  int      `json:"attempt"`
}

// AntTold is a text that enters a conversation and is neither a reply nor a result. Kind is task, steering,
// gate, conflict, review, nudge or answer.
type AntTold struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Size int64  `json:"size,omitempty"` // bytes of the text where that was left out
}

// AntCompacted is a conversation of which a summary took the place, or, where there is none, whose results were shortened.
// Before and After are tokens, about.
type AntCompacted struct {
	Summary string `json:"summary"`
	Results int    `json:"results,omitempty"` // the bytes that an older result keeps
	Last    int    `json:"last,omitempty"`    // the bytes that each of the last results keeps; 0 for all
	Before  int64  `json:"before"`
	After   int64  `json:"after"`
}

// AntEnded says why an ant stopped.
type AntEnded struct {
	Reason string `json:"reason"`
}

// ModelRequested is money and tokens set aside before an attempt.
type ModelRequested struct {
	Request        string   `json:"request"`
	Attempt        int      `json:"attempt"`
	Provider       string   `json:"provider"`
	Model          string   `json:"model"`
	ReservedUSD    *PicoUSD `json:"reserved_usd"`
	ReservedTokens int64    `json:"reserved_tokens"`
	OutputLimit    int      `json:"output_limit"`
}

// ModelReplied is what came of an attempt, with its charge. Outcome is ok, cut, refused, rate_limited,
// overloaded, quota, auth, transport, aborted or lost.
type ModelReplied struct {
	Request     string          `json:"request"`
	Attempt     int             `json:"attempt"`
	Outcome     string          `json:"outcome"`
	Finish      string          `json:"finish"`
	Content     json.RawMessage `json:"content"` // the message as the conversation holds it
	Usage       Usage           `json:"usage"`
	USD         *PicoUSD        `json:"usd"`
	Price       Price           `json:"price"`
	RateDate    string          `json:"rate_date"`
	Rate        string          `json:"rate,omitempty"`    // what the tokens cost, in words; empty where it is free or unknown
	Service     string          `json:"service,omitempty"` // by which the provider served it; empty for the standard one
	Estimated   bool            `json:"estimated"`
	CacheMiss   string          `json:"cache_miss,omitempty"`          // why the cache did not serve what it could, where the provider says
	CacheMissed int64           `json:"cache_missed_tokens,omitempty"` // of cache_miss: how many tokens, where the provider says
	FirstByteMs int64           `json:"first_byte_ms"`
	Ms          int64           `json:"ms"`
}

// Effects is what a call was found to touch.
type Effects struct {
	Known    bool     `json:"known"`
	ReadOnly bool     `json:"read_only"`
	Reads    []string `json:"reads,omitempty"`
	Writes   []string `json:"writes,omitempty"`
	Commands []string `json:"commands,omitempty"`
	Hosts    []string `json:"hosts,omitempty"`
}

// FileHash is a file's content at a moment. An empty SHA256 means that there is no file.
type FileHash struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// ToolStarted is a call about to have its effect.
type ToolStarted struct {
	Call     string          `json:"call"`
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args"`
	ArgsSum  string          `json:"args_sha256"`
	Effects  Effects         `json:"effects"`
	Decision string          `json:"decision"`
	Rule     string          `json:"rule"`
	After    []string        `json:"after,omitempty"` // what the ant had read before that it did not write
	Before   []FileHash      `json:"before"`
	Planned  []FileHash      `json:"planned"`
}

// Blob names bytes kept beside the log.
type Blob struct {
	SHA256 string `json:"sha256"`
	Media  string `json:"media"`
	Bytes  int64  `json:"bytes"`
}

// Seen is a part of a file that a call read or wrote.
type Seen struct {
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	Wrote bool   `json:"wrote,omitempty"`
}

// ToolDone is what a call came to. Text is what the model reads.
type ToolDone struct {
	Call      string    `json:"call"`
	Tool      string    `json:"tool"`
	Fault     string    `json:"fault"`
	Text      string    `json:"text"`
	Images    []Blob    `json:"images"`
	Ends      bool      `json:"ends"`
	Exit      *int      `json:"exit"`
	Ms        int64     `json:"ms"`
	Bytes     int64     `json:"bytes"`
	Spilled   *Blob     `json:"spilled"`
	Seen      []Seen    `json:"seen"`
	Loaded    []string  `json:"loaded"`
	Cwd       string    `json:"cwd"`
	Views     view.List `json:"views"`
	Recovered bool      `json:"recovered"`
	Coerced   []string  `json:"coerced"`
	Rule      string    `json:"rule"`
	After     []string  `json:"after,omitempty"` // of a denied call, as in tool.started
}
