package tools

import (
	"time"

	"colony/view"
)

// Fault is why a call did not do what was asked, for the model to act on. The empty Fault is success.
type Fault string

// The nine faults.
const (
	Validation       Fault = "validation"        // the arguments are wrong: call again, corrected
	Missing          Fault = "missing"           // what was named does not exist
	PermissionDenied Fault = "permission_denied" // refused: do not repeat
	Timeout          Fault = "timeout"
	Transient        Fault = "transient" // may work when repeated
	LoopBlocked      Fault = "loop_blocked"
	StaleRead        Fault = "stale_read" // read the file again first
	Cancelled        Fault = "cancelled"
	Internal         Fault = "internal" // the tool is broken; the ant lives
)

// Seen is a part of a file that a call read or wrote: it arms the read-before-write gate.
// From and To count lines from 1, both ends included; To 0 is the end of the file.
type Seen struct {
	Path  string `json:"path"` // absolute, resolved
	Hash  string `json:"hash"` // SHA-256 of the whole file, hex
	From  int    `json:"from"`
	To    int    `json:"to"`
	Wrote bool   `json:"wrote,omitempty"`
}

// BlobRef names bytes kept in a BlobStore by content.
type BlobRef struct {
	SHA256 string `json:"sha256"`
	Media  string `json:"media"`
	Bytes  int64  `json:"bytes"`
}

// Result is what a call came to. What stands below Text is applied by the ant, in call order.
type Result struct {
	Text     string // what the model reads; never empty
	Fault    Fault
	Views    view.List
	Images   []BlobRef
	Seen     []Seen
	Loaded   []string // deferred tools this call opened: only the ant calls Registry.Load
	Cwd      string   // where the next call starts; empty means unchanged
	Ends     bool     // the ant stops after this batch
	Exit     *int     // of a command
	Duration time.Duration
	Bytes    int64    // length of the text before it was cut
	Spilled  *BlobRef // the full text, where it was cut
	Rule     string   // what refused the call, where Fault is PermissionDenied
	After    []string // what of others the ant had read before it, where it was denied
}

// Refuse is a result that carries a fault and a text.
func Refuse(f Fault, text string) Result { return Result{Fault: f, Text: text} }

// Result caps in bytes. DefaultResultCap is the cap of a Spec that names none; NoCap never spills.
const (
	DefaultResultCap = 32 << 10
	NoCap            = -1
)
