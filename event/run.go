package event

import "time"

// RunStarted opens a log.
type RunStarted struct {
	Goal     string            `json:"goal"`
	Base     string            `json:"base"`
	Branch   string            `json:"branch"`
	On       string            `json:"on"`   // the branch of the checkout that the run began on; empty where there was none
	From     string            `json:"from"` // the run that it goes on from; empty where it began afresh
	Version  string            `json:"version"`
	Mode     string            `json:"mode"`
	Sandbox  Sandbox           `json:"sandbox"`
	Caps     Caps              `json:"caps"`
	Gates    []string          `json:"gates"`
	Setup    []string          `json:"setup"`
	Cards    []Card            `json:"cards"`
	Settings string            `json:"settings_sha256"`
	Headless bool              `json:"headless"`
	Labels   map[string]string `json:"labels"`
	User     string            `json:"user,omitempty"` // who ran it, as git names them
	Plan     string            `json:"plan_sha256"`    // the plan that was given; empty where the queen makes one of the goal
}

// RunResumed is RunStarted for a run that goes on.
type RunResumed RunStarted

// Sandbox is what confines the processes of a run.
type Sandbox struct {
	Level     string `json:"level"`
	Mechanism string `json:"mechanism"`
}

// Caps bound a run, a task or an ant; a nil field does not. Wall is in milliseconds.
type Caps struct {
	USD    *PicoUSD `json:"usd,omitempty"`
	Tokens *int64   `json:"tokens,omitempty"`
	Turns  *int64   `json:"turns,omitempty"`
	Calls  *int64   `json:"calls,omitempty"`
	WallMs *int64   `json:"wall_ms,omitempty"`
}

// Card names a card as a run uses it. SHA256 names a blob that holds its text.
type Card struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	SHA256 string `json:"sha256"`
	Model  string `json:"model"`
}

// RunPaused is a run that waits for a person.
type RunPaused struct {
	Why  string   `json:"why"`
	Asks []string `json:"asks"`
	By   *By      `json:"by,omitempty"` // who paused it; nil where it waited for the disk
}

// Estimate is what a plan may cost. The amounts are nil where a price is unknown, never 0; Tokens stand in all cases.
type Estimate struct {
	Low      *PicoUSD `json:"low"`
	Expected *PicoUSD `json:"expected"`
	High     *PicoUSD `json:"high"`
	Tokens   Spread   `json:"tokens"`
	Price    Price    `json:"price"`
	Basis    string   `json:"basis"`
}

// Spread is how many tokens a plan may use.
type Spread struct {
	Low      int64 `json:"low"`
	Expected int64 `json:"expected"`
	High     int64 `json:"high"`
}

// PlanTask is a task as the log keeps it.
type PlanTask struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Prompt string   `json:"prompt"`
	Card   string   `json:"card"`
	Needs  []string `json:"needs"`
	Files  []string `json:"files"`
	Locks  []string `json:"locks"`
	Gates  []string `json:"gates"`
	Checks []Check  `json:"checks"` // its own gates, whole
	Caps   Caps     `json:"caps"`
	Review bool     `json:"review"`
}

// Check is a gate as it is to be run.
type Check struct {
	Run       string `json:"run"`
	Name      string `json:"name"`
	Dir       string `json:"dir"`
	TimeoutMs int64  `json:"timeout_ms"`
	Retry     int    `json:"retry,omitempty"`
}

// PlanMade is the graph of tasks.
type PlanMade struct {
	Tasks    []PlanTask `json:"tasks"`
	Estimate *Estimate  `json:"estimate"`
	Edited   bool       `json:"edited"`
}

// PlanChanged replaces the graph.
type PlanChanged PlanMade

// RunFinished ends a process's share of a run; the last one counts.
type RunFinished struct {
	Status    string            `json:"status"` // landed, partial, failed, capped, waiting, stopped
	Branch    string            `json:"branch"`
	Base      string            `json:"base"`
	Commit    string            `json:"commit"`
	Tasks     []TaskReport      `json:"tasks"`
	Usage     Usage             `json:"usage"`
	USD       *PicoUSD          `json:"usd"`
	Price     Price             `json:"price"`
	WallMs    int64             `json:"wall_ms"`
	Exit      int               `json:"exit"`
	Reason    string            `json:"reason"`
	Kept      []Kept            `json:"kept"`
	Denied    []Denied          `json:"denied"`
	Unclear   []Unclear         `json:"unclear"`
	AsksOpen  []string          `json:"asks_open"`
	Resumable bool              `json:"resumable"`
	Labels    map[string]string `json:"labels"`
}

// TaskReport is a task at the end of a run.
type TaskReport struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Card     string   `json:"card"`
	Ants     []string `json:"ants"`
	Status   string   `json:"status"`
	Commit   string   `json:"commit"`
	Attempts int      `json:"attempts"`
	Reason   string   `json:"reason"`
	Detail   string   `json:"detail,omitempty"` // a sentence more than the reason
	Files    []string `json:"files"`
	Receipt  Receipt  `json:"receipt"`
	Usage    Usage    `json:"usage"`
	USD      *PicoUSD `json:"usd"`
	Price    Price    `json:"price"`
	Verified bool     `json:"verified"`
}

// Receipt is the evidence for a landing.
type Receipt struct {
	Gates []GateReceipt `json:"gates"`
}

// GateReceipt is one gate as it ran on a tree.
type GateReceipt struct {
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	Ms      int64  `json:"ms"`
	Output  string `json:"output_sha256"`
	Tree    string `json:"tree"`
	Reused  bool   `json:"reused,omitempty"`
	Flaky   bool   `json:"flaky,omitempty"`
	Red     bool   `json:"red_on_base,omitempty"`
}

// Kept is work that did not land and where it is.
type Kept struct {
	Task string `json:"task"`
	Ref  string `json:"ref"`
}

// Denied is a call that was refused.
type Denied struct {
	Ant  string `json:"ant"`
	Tool string `json:"tool"`
	Rule string `json:"rule"`
}

// Unclear is a call that was cut off, of which nobody can say whether it had an effect.
type Unclear struct {
	Ant  string `json:"ant"`
	Tool string `json:"tool"`
	Call string `json:"call"`
}

// Throttled says that the swarm waits or shrinks.
type Throttled struct {
	Why      string    `json:"why"`
	Until    time.Time `json:"until"`
	AntsFrom int       `json:"ants_from"`
	AntsTo   int       `json:"ants_to"`
}

// Warned is shown once to a person.
type Warned struct {
	Code string `json:"code"`
	Text string `json:"text"`
	Next string `json:"next"`
}
