package guard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sourcegraph/conc/panics"

	"colony/tools"
)

// doubt is a call that somebody has to say yes to, and why.
type doubt struct {
	call tools.Prepared
	d    Decision
}

// foreseen is an answer and what it was about.
type foreseen struct {
	doubt
	answer tools.Answer
	files  []operand // as they were when the question was opened
	drift  string    // the file that changed while it was open
	may    *grant    // what "for this run" stores
}

// put opens one question about calls. Those whose preview comes to a fault are not asked about: where that is the only
// one it comes back refused.
func (p *Policy) put(ctx context.Context, env *tools.Env, about ...doubt) (heard []foreseen, refused *tools.Result, err error) {
	var q tools.Question
	for _, one := range about {
		change, bad, err := preview(ctx, env, one.call)
		if err != nil {
			return nil, nil, err
		}
		if bad != nil {
			refused = bad
			continue
		}
		next := question(env, one)
		next.Views = change.Views
		files := operands(env, one.call.Effects)
		next.Files = sum(env.Root, files)
		if len(heard) > 0 {
			next = join(q, next)
		}
		q = next
		heard = append(heard, foreseen{doubt: one, files: files})
	}
	if len(heard) == 0 {
		return nil, refused, nil
	}
	if len(heard) == 1 {
		heard[0].offer(env, &q)
	}
	answer, err := env.Ask(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	for i := range heard {
		heard[i].answer = answer
		heard[i].drift = drifted(heard[i].files, operands(env, heard[i].call.Effects))
	}
	return heard, nil, nil
}

// offer adds the answer that holds for the whole run, and what it would store. What a rule asks about is asked each time.
func (f *foreseen) offer(env *tools.Env, q *tools.Question) {
	may, ok := grantOf(env, f.call.Call.Name, f.call.Digest, f.files)
	if !ok || f.d.Stage != "default" {
		return
	}
	f.may, q.Grant = &may, may.rule()
	q.Choices = []string{Allow, tools.ForRun, Deny}
	q.Text += fmt.Sprintf("\n%q would store, for %s alone: this very call in %s, with the files that it names as they are", tools.ForRun, env.Ant, visible(may.dir))
}

// join is one question about what two are about.
func join(q, next tools.Question) tools.Question {
	q.Call, q.Digest, q.Files = q.Call+", "+next.Call, both(q.Digest, next.Digest), both(q.Files, next.Files)
	q.Text += "\n" + next.Text
	q.Views = slices.Concat(q.Views, next.Views)
	return q
}

// both is one hash of two.
func both(a, b string) string {
	sum := sha256.Sum256([]byte(a + "\n" + b))
	return hex.EncodeToString(sum[:])
}

// question is what a person is asked about a call. Nothing of the call is left out, and what could hide a part
// of it on a screen is shown as an escape.
func question(env *tools.Env, one doubt) tools.Question {
	call := one.call
	return tools.Question{
		Kind:    "permission",
		Text:    visible(fmt.Sprintf("%s asks to run %s %s (%s)", env.Ant, call.Call.Name, call.Call.Args, one.d.Reason)),
		Call:    call.Call.ID,
		Digest:  call.Digest,
		Choices: []string{Allow, Deny},
	}
}

// preview is what the call would change; nothing for a tool that cannot say, which is asked about all the same before
// it runs. Nothing is touched.
func preview(ctx context.Context, env *tools.Env, call tools.Prepared) (r tools.Result, refused *tools.Result, err error) {
	previewer, ok := call.Tool.(tools.Previewer)
	if !ok {
		return r, nil, nil
	}
	if caught := panics.Try(func() { r, err = previewer.Preview(ctx, env, call.Call.Args) }); caught != nil {
		r = tools.Refuse(tools.Internal, fmt.Sprintf("%s broke while it was previewed and was not run: %v", call.Call.Name, caught.Value))
	}
	switch {
	case err != nil:
		return r, nil, fmt.Errorf("preview %s: %w", call.Call.Name, err)
	case r.Fault != "":
		return r, &r, nil
	}
	return r, nil, nil
}

func visible(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsPrint(c) || c == '\t' {
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, "\\u{%X}", c)
	}
	return b.String()
}
