package builtin_test

import (
	"testing"

	"colony/tools"
)

// A marker is no text of a file: an edit or write that holds one changes nothing, and says so.
func TestMarkersAreNotWritten(t *testing.T) {
	w := newWorld(t)
	w.put(".env", "A=1\nKEY=canary\nB=2\n")
	w.ok("read", args{"path": ".env"})
	const says = "holds [redacted:env], which stands for a credential that you are not shown"
	w.fault(tools.Validation, "old: "+says, "edit", args{"path": ".env", "old": "KEY=[redacted:env]\n", "new": ""})
	w.fault(tools.Validation, "edits[0].new: "+says, "edit", args{"path": ".env", "edits": []map[string]any{{"old": "A=1", "new": "A=2\nKEY=[redacted:env]"}}})
	w.fault(tools.Validation, "content: "+says, "write", args{"path": ".env", "content": "A=2\nKEY=[redacted:env]\nB=2\n"})
	w.holds(".env", "A=1\nKEY=canary\nB=2\n")
	w.ok("edit", args{"path": ".env", "old": "A=1", "new": "A=[redacted:nothing]"})
}
