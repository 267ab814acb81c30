package hatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"colony/guard/secrets"
	"colony/plan"
)

// shortestKey is the length from which a provider's key is one, and not a word that any text may hold.
const shortestKey = 8

// knowSecrets makes what finds credentials: by their looks, the keys of this run's providers, and the values of the user's
// variables.
func (c *Colony) knowSecrets(context.Context) error {
	values := append([]string{}, c.parts.private...)
	values = append(values, c.serverSecrets()...)
	for _, m := range c.reached() {
		if len(m.key) >= shortestKey {
			values = append(values, m.key)
		}
	}
	c.secrets = secrets.New(values...)
	c.parts.Goal = c.redact(c.parts.Goal)
	labels := map[string]string{}
	for key, value := range c.parts.Labels {
		labels[c.redact(key)] = c.redact(value)
	}
	c.parts.Labels = labels
	c.cleanse(&c.parts.Plan)
	return nil
}

// cleanse takes credentials out of the words of a plan. Its commands stay as they are written: with a marker in it a command is
// another.
func (c *Colony) cleanse(p *plan.Plan) {
	p.Goal = c.redact(p.Goal)
	p.Tasks = slices.Clone(p.Tasks)
	for i, t := range p.Tasks {
		p.Tasks[i].Title, p.Tasks[i].Prompt = c.redact(t.Title), c.redact(t.Prompt)
	}
}

// redact puts markers in the place of credentials: what colony keeps, shows and sends of a text is the same.
func (c *Colony) redact(text string) string { return c.secrets.Redact(text) }

// leaks are the places where the work adds a credential to what would land, but for files where the user allows it.
func (l *life) leaks(ctx context.Context) ([]secrets.Place, error) {
	diff, _, err := l.repo.Diff(ctx, l.order.Base, l.work.SHA)
	if err != nil {
		return nil, err
	}
	places := l.secrets.Added(string(diff))
	allowed := l.settings.permissions.AllowSecrets
	return slices.DeleteFunc(places, func(p secrets.Place) bool {
		return len(allowed) > 0 && (plan.Task{Files: allowed}).Covers(p.File)
	}), nil
}

// mostNamed bounds how many places an ant is told of at once.
const mostNamed = 20

// leaked is what an ant is told whose work holds credentials.
func leaked(places []secrets.Place) string {
	var b strings.Builder
	b.WriteString("These lines look like credentials, and nothing that holds one lands:\n")
	for i, p := range places {
		if i == mostNamed {
			fmt.Fprintf(&b, "- and %d more\n", len(places)-i)
			break
		}
		fmt.Fprintf(&b, "- %s\n", p)
	}
	b.WriteString("Take them out: read the value from the environment, or, in a test, put it together from parts. Where a line holds a marker, " +
		"put back what stood there. Then call done again. ")
	return b.String()
}
