package hooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// mostSaid bounds what is kept of a hook's output.
const mostSaid = 16 << 10

// blocks is the exit code of a hook that blocks.
const blocks = 2

// answer is what a hook may write to stdout, as JSON.
type answer struct {
	Decision string `json:"decision"` // block, deny, ask, allow or approve
	Reason   string `json:"reason"`
	Continue *bool  `json:"continue"`
	Stop     string `json:"stopReason"`
	Specific struct {
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	} `json:"hookSpecificOutput"`
}

// judge reads what a hook ended with and said.
func judge(command string, code int, stdout, stderr string) Verdict {
	said := strings.TrimSpace(stderr)
	switch code {
	case 0:
		return spoken(command, stdout)
	case blocks:
		return Verdict{Decision: Deny, Reason: cmp.Or(said, fmt.Sprintf("the hook `%s` blocks it and does not say why", command))}
	}
	warning := fmt.Sprintf("the hook `%s` ended with %d", command, code)
	if said != "" {
		first, _, _ := strings.Cut(said, "\n")
		warning += ": " + first
	}
	return Verdict{Warnings: []string{warning}}
}

// spoken reads the decision on stdout, where one is given. Other output than JSON says nothing.
func spoken(command, stdout string) Verdict {
	stdout = strings.TrimSpace(stdout)
	if !strings.HasPrefix(stdout, "{") {
		return Verdict{}
	}
	var a answer
	if err := json.Unmarshal([]byte(stdout), &a); err != nil {
		return Verdict{Warnings: []string{fmt.Sprintf("the hook `%s` wrote JSON that cannot be read: %v", command, err)}}
	}
	if a.Continue != nil && !*a.Continue {
		a.Specific.Decision, a.Specific.Reason = Deny, cmp.Or(a.Stop, a.Reason)
	}
	word := cmp.Or(a.Specific.Decision, a.Decision)
	v := Verdict{Reason: cmp.Or(a.Specific.Reason, a.Reason)}
	switch word {
	case "":
		return Verdict{}
	case "block", Deny:
		v.Decision = Deny
	case Ask:
		v.Decision = Ask
	case "approve", Allow:
		v.Decision = Allow
	default:
		return Verdict{Warnings: []string{fmt.Sprintf("the hook `%s` decided %q, which is not allow, ask or deny", command, word)}}
	}
	v.Reason = cmp.Or(strings.TrimSpace(v.Reason), fmt.Sprintf("the hook `%s` says %s", command, v.Decision))
	return v
}

// bounded keeps the first mostSaid bytes of what is written to it.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	b.Builder.Write(p[:min(len(p), mostSaid-b.Len())])
	return len(p), nil
}
