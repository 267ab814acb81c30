package guard

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"colony/tools"
)

// maxSources bounds the texts from outside that are named for one call.
const maxSources = 8

// session is what the policy knows of the ants: what persons granted them and what they have seen. mu guards all.
type session struct {
	mu   sync.Mutex
	ants map[string]*past
}

// past is one ant's.
type past struct {
	grants  []grant
	private string   // the first private thing that it saw
	foreign string   // the first text from outside the repository that it saw
	skills  []string // that it called up
	sources []string // the last texts it did not write itself, oldest first
}

// grant is a person's yes, for the rest of the run, to one call of one ant in one worktree and directory, with the
// files that its words name as they are.
type grant struct{ root, dir, tool, digest, files string }

// rule is the grant as it is shown before it is stored, and as the log keeps it.
func (g grant) rule() string {
	return fmt.Sprintf("%s sha256:%s files:%s in %s", g.tool, g.digest, g.files, g.dir)
}

var grantRule = regexp.MustCompile(`^([A-Za-z0-9_.-]+) sha256:(\S+) files:([0-9a-f]{64}) in (.+)$`)

// grantOf is the grant that would hold for a call; false where its directory is outside the worktree.
func grantOf(env *tools.Env, tool, digest string, files []operand) (grant, bool) {
	dir, inside := beneath(env.Root, env.Cwd())
	return grant{env.Root, dir, tool, digest, sum(env.Root, files)}, inside
}

// of is the ant's past. The caller holds mu.
func (s *session) of(ant string) *past {
	if s.ants == nil {
		s.ants = map[string]*past{}
	}
	if s.ants[ant] == nil {
		s.ants[ant] = &past{}
	}
	return s.ants[ant]
}

func (s *session) grant(ant string, g grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.of(ant); !slices.Contains(p.grants, g) {
		p.grants = append(p.grants, g)
	}
}

func (s *session) called(ant string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.of(ant).skills)
}

// may are the grants of the ant that name a call, whatever its files hold now.
func (s *session) may(ant, tool, digest string) []grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []grant
	for _, g := range s.of(ant).grants {
		if g.tool == tool && g.digest == digest {
			out = append(out, g)
		}
	}
	return out
}

// Restore gives an ant back, in the worktree of env, what a person granted it before: a rule as the question showed it.
func (p *Policy) Restore(env *tools.Env, rule string) error {
	m := grantRule.FindStringSubmatch(rule)
	if m == nil {
		return fmt.Errorf("restore the grant %q: it is not one", rule)
	}
	p.session.grant(env.Ant, grant{env.Root, m[4], m[1], m[2], m[3]})
	return nil
}

// granted applies grants: to exactly the call that a person saw, with the files that its words name as they were.
func (p *Policy) granted(j judged) (Decision, bool) {
	may := p.session.may(j.env.Ant, j.name, j.digest)
	if len(may) == 0 {
		return Decision{}, false
	}
	now, ok := grantOf(j.env, j.name, j.digest, operands(j.env, j.e))
	if !ok || !slices.Contains(may, now) {
		return Decision{}, false
	}
	return Decision{Decision: Allow, Rule: "granted", Segment: j.name, Reason: "a person granted this very call for this run"}, true
}
