package event

import "time"

// TaskReady is a task whose needs are met.
type TaskReady struct {
	Needs []string `json:"needs"`
}

// TaskClaimed is a lease on a task. Token is its fencing number. Base is the commit at which the work of the attempt
// begins.
type TaskClaimed struct {
	Lease string    `json:"lease"`
	Token int64     `json:"token"`
	Until time.Time `json:"until"`
	Base  string    `json:"base"`
}

// CommitMade is an ant's work as a commit. Refused names files that were left out.
type CommitMade struct {
	Commit  string   `json:"commit"`
	Tree    string   `json:"tree"`
	Files   []string `json:"files"`
	Refused []string `json:"refused"`
}

// GateStarted is a gate about to run. Where is base, task, landing or final.
type GateStarted struct {
	Gate    string `json:"gate"`
	Command string `json:"command"`
	Where   string `json:"where"`
	Tree    string `json:"tree"`
}

// GateDone is a gate that ran, or whose earlier run on the same tree was reused.
type GateDone struct {
	Gate      string `json:"gate"`
	Command   string `json:"command"`
	Where     string `json:"where"`
	Tree      string `json:"tree"`
	Exit      int    `json:"exit"`
	Ms        int64  `json:"ms"`
	Output    string `json:"output_sha256"`
	Reused    bool   `json:"reused"`
	Flaky     bool   `json:"flaky"`
	RedOnBase bool   `json:"red_on_base"`
}

// Finding is one remark of a reviewer.
type Finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Severity int    `json:"severity"`
	Text     string `json:"text"`
	Status   string `json:"status"`
}

// ReviewDone is a reviewer's verdict: approve or send_back.
type ReviewDone struct {
	Reviewer string    `json:"reviewer"`
	Round    int       `json:"round"`
	Verdict  string    `json:"verdict"`
	Findings []Finding `json:"findings"`
}

// LandingStarted is a commit about to be joined to the run's branch; or, where Into names one, the whole run to that
// branch of the user's.
type LandingStarted struct {
	Into   string `json:"into"`
	Onto   string `json:"onto"`
	Commit string `json:"commit"`
}

// LandingDone is what came of it: landed, conflict, gate, stale or empty. Stale is work that was joined to what is not on
// the branch; it lands again, unless another moved the branch.
type LandingDone struct {
	Into              string   `json:"into"`
	Onto              string   `json:"onto"`
	Commit            string   `json:"commit"`
	Outcome           string   `json:"outcome"`
	Files             []string `json:"files"`
	GateInputsChanged []string `json:"gate_inputs_changed"`
	Tree              string   `json:"tree"` // on which its gates ran; empty where none did
}

// TaskDone is a task in its final state.
type TaskDone struct {
	Status   string   `json:"status"`
	Reason   string   `json:"reason"`
	Detail   string   `json:"detail,omitempty"` // a sentence more than the reason
	Attempts int      `json:"attempts"`
	Commit   string   `json:"commit"`
	Kept     string   `json:"kept"`
	Usage    Usage    `json:"usage"`
	USD      *PicoUSD `json:"usd"`
	Price    Price    `json:"price"`
	Verified bool     `json:"verified"`
}
