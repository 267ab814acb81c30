package guard

import (
	"fmt"
	"slices"

	"colony/guard/shell"
	"colony/tools"
)

// denied applies the deny rules. A line that could not be read whole is a question where a deny rule might
// apply to what could not be read.
func (p *Policy) denied(j judged) (Decision, bool) {
	if r, segment, hit := firstHit(p.parts.Rules.Deny, j); hit {
		return Decision{Decision: Deny, Rule: r.Text, Segment: segment,
			Reason: fmt.Sprintf("the rule %s denies %s: do it another way or leave it out", r.Text, segment)}, true
	}
	return mayHit(p.parts.Rules.Deny, j)
}

func (p *Policy) mustAsk(j judged) (Decision, bool) {
	r, segment, hit := firstHit(p.parts.Rules.Ask, j)
	switch {
	case !hit:
		return mayHit(p.parts.Rules.Ask, j)
	case j.e.Opinion == tools.OpinionDeny:
		return p.opinion(j)
	}
	return Decision{Decision: Ask, Rule: r.Text, Segment: segment, Reason: fmt.Sprintf("the rule %s asks before %s", r.Text, segment)}, true
}

func firstHit(rules []Rule, j judged) (Rule, string, bool) {
	for _, r := range rules {
		if !j.under(r) {
			continue
		}
		if !r.content {
			return r, j.name, true
		}
		for _, a := range j.aims {
			for _, form := range slices.Concat(a.forms, a.also) {
				if r.holds(form, a.command) {
					return r, a.forms[0], true
				}
			}
		}
		if !j.e.Known || j.lines() { // the line as written, for rules that name all of it, or what runs it
			for _, s := range j.e.Subjects {
				if r.holds(s, true) {
					return r, s, true
				}
			}
		}
	}
	return Rule{}, "", false
}

// mayHit asks where a rule might apply to words that are not literal, or to a line that does not parse.
func mayHit(rules []Rule, j judged) (Decision, bool) {
	for _, r := range rules {
		if !j.under(r) || !r.content {
			continue
		}
		if !j.readable() {
			return cannotRuleOut(r, j.name), true
		}
		for _, a := range j.aims {
			if a.command && a.argv == nil && r.mayHold(a.forms[0]) {
				return cannotRuleOut(r, a.forms[0]), true
			}
		}
	}
	return Decision{}, false
}

func cannotRuleOut(r Rule, segment string) Decision {
	if segment == "" {
		segment = "a command that is not named"
	}
	return Decision{Decision: Ask, Rule: r.Text, Segment: segment,
		Reason: fmt.Sprintf("%s could be what the rule %s is about: write it with literal words", segment, r.Text)}
}

// opinion applies a tool's own word where it is a deny or an ask.
func (p *Policy) opinion(j judged) (Decision, bool) {
	why := j.e.Why
	if why == "" {
		why = j.name + " itself says so"
	}
	switch j.e.Opinion {
	case tools.OpinionDeny:
		return Decision{Decision: Deny, Rule: "opinion", Segment: j.name, Reason: why}, true
	case tools.OpinionAsk:
		return Decision{Decision: Ask, Rule: "opinion", Segment: j.name, Reason: why}, true
	}
	return Decision{}, false
}

// mode applies the run's mode. Effects that nothing confines pass it by.
func (p *Policy) mode(j judged) (Decision, bool) {
	mode := p.parts.Mode
	yes := Decision{Decision: Allow, Rule: string(mode), Segment: j.name}
	switch {
	case mode == ModePlan && !j.harmless() && !j.looks():
		return Decision{Decision: Deny, Rule: string(mode), Segment: j.name,
			Reason: fmt.Sprintf("in plan mode nothing is changed, and %s is not known to be read-only: look only, and say what you would change", j.name)}, true
	case mode == ModeAuto && j.shell() && changesRepository(j.e.Commands) == "":
		yes.Reason = "the sandbox confines every command"
		return yes, true
	case (mode == ModeAuto || mode == ModeAutoEdit) && j.edits():
		yes.Reason = "it changes files of the worktree only"
		return yes, true
	}
	return Decision{}, false
}

// looks reports whether the call is known to be read-only, though it may send something.
func (j judged) looks() bool {
	return j.e.Known && j.e.ReadOnly && !j.e.Destructive && len(j.e.Writes) == 0
}

// edits reports whether the call is known to write files and do nothing else. Where they lie the floor has judged.
func (j judged) edits() bool {
	return j.e.Known && !j.shell() && !j.e.Destructive && len(j.e.Hosts) == 0 && len(j.e.Writes) > 0
}

// allowed applies what needs no question: grants, reading, rules, and a tool's pre-approval.
func (p *Policy) allowed(j judged) (Decision, bool) {
	if d, ok := p.granted(j); ok {
		return d, true
	}
	if j.harmless() {
		return Decision{Decision: Allow, Rule: "read-only", Segment: j.name, Reason: "it changes nothing"}, true
	}
	if r, covered := p.covered(j); covered {
		return Decision{Decision: Allow, Rule: r.Text, Segment: j.name, Reason: "the rule " + r.Text + " allows it"}, true
	}
	if j.e.Opinion == tools.OpinionPreApprove && j.e.Known {
		return Decision{Decision: Allow, Rule: "opinion", Segment: j.name, Reason: j.name + " itself allows it"}, true
	}
	return Decision{}, false
}

// approved are the allow rules for a call: all, and those of the skills that its ant has called up, which approve no change
// of the repository.
func (p *Policy) approved(j judged) []Rule {
	rules := p.parts.Rules.Allow
	if changesRepository(j.e.Commands) != "" {
		return rules
	}
	for _, name := range p.session.called(j.env.Ant) {
		rules = append(slices.Clip(rules), p.parts.Skills[name]...)
	}
	return rules
}

// covered reports whether allow rules cover everything the call is about, and the first that does.
func (p *Policy) covered(j judged) (first Rule, ok bool) {
	rules := p.approved(j)
	for _, r := range rules {
		if j.under(r) && !r.content && j.readable() {
			return r, true
		}
	}
	if !j.e.Known || len(j.aims) == 0 {
		return Rule{}, false
	}
	for i, a := range j.aims {
		if j.shell() && j.inGrammar(j.e.Commands[i]) {
			continue
		}
		at := slices.IndexFunc(rules, func(r Rule) bool { return j.under(r) && r.covers(a) })
		if at < 0 {
			return Rule{}, false
		}
		if !ok {
			first, ok = rules[at], true
		}
	}
	return first, ok
}

// covers reports whether an allow rule covers an aim: a rule that fixes only how a command begins does not
// cover one that names a program to run.
func (r Rule) covers(a aim) bool {
	if a.command && (a.argv == nil || !r.exact() && shell.NamesProgram(a.argv) != "") {
		return false
	}
	return slices.ContainsFunc(a.forms, func(form string) bool { return r.holds(form, a.command) })
}

// otherwise is the default: git that changes the repository is refused, the rest is asked.
func (p *Policy) otherwise(j judged) Decision {
	if git := changesRepository(j.e.Commands); git != "" {
		return Decision{Decision: Deny, Rule: "git", Segment: git,
			Reason: fmt.Sprintf("%s would change the repository, which colony does: leave your changes in the worktree and call done, colony commits them", git)}
	}
	segment := j.firstUncovered(p)
	reason := fmt.Sprintf("nothing allows %s without a question", segment)
	if j.e.Why != "" {
		reason += ": " + j.e.Why
	}
	return Decision{Decision: Ask, Rule: "default", Segment: segment, Reason: reason}
}

// firstUncovered is what a question would be about.
func (j judged) firstUncovered(p *Policy) string {
	for i, a := range j.aims {
		if a.forms[0] == "" || j.shell() && j.inGrammar(j.e.Commands[i]) {
			continue
		}
		if !slices.ContainsFunc(p.approved(j), func(r Rule) bool { return j.under(r) && r.covers(a) }) {
			return a.forms[0]
		}
	}
	return j.name
}
