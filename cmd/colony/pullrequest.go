package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"colony/event"
	"colony/hatch"
	"colony/plan"
	"colony/view"
)

// pullRequest is a run as it is proposed for a branch on a forge.
type pullRequest struct {
	Run   string `json:"run"`
	Head  string `json:"head"`
	Base  string `json:"base"`
	Title string `json:"title"`
	Body  string `json:"body"` // of the file at Text
	Text  string `json:"text"`
	URL   string `json:"url"` // empty where there is no gh
}

// propose writes the text of a pull request for what a run landed, and where gh is there pushes the run's branch and makes
// it. Both are done as the person would: their git, their gh, their settings.
func (a *app) propose(ctx context.Context, house *hatch.House, past hatch.Past, into string) error {
	if err := past.Over(); err != nil {
		return err
	}
	p, err := a.prepare(ctx, past, into)
	if err != nil {
		return err
	}
	remote, err := remoteOf(ctx, house.Root, p.Base)
	if err != nil {
		return err
	}
	push := []string{"git", "push", remote, "refs/heads/" + p.Head}
	gh := []string{"gh", "pr", "create", "--head", p.Head, "--base", p.Base, "--title", p.Title, "--body-file", p.Text}
	if _, err := exec.LookPath("gh"); err != nil {
		return a.sayPullRequest(p, strings.Join(push, " "))
	}
	for _, argv := range [][]string{push, gh} {
		out, err := a.asPerson(ctx, house.Root, argv)
		if err != nil {
			return &hatch.Problem{Exit: 3, Code: "pull_request", Message: fmt.Sprintf("%s %s did not make it: %s", argv[0], argv[1], cmp.Or(lastLine(out), err.Error())),
				Next: "mend that, then colony land " + p.Run + " --pr again; the text is in " + p.Text}
		}
		p.URL = lastLine(out)
	}
	return a.sayPullRequest(p, "")
}

// prepare makes the title and the text of what a run landed.
func (a *app) prepare(ctx context.Context, past hatch.Past, into string) (pullRequest, error) {
	var started event.RunStarted
	var finished *event.RunFinished
	for e, err := range past.Events(ctx) {
		if err != nil {
			return pullRequest{}, err
		}
		switch b := e.Body.(type) {
		case event.RunStarted:
			started = b
		case event.RunFinished:
			finished = &b
		}
	}
	switch {
	case finished == nil:
		return pullRequest{}, &hatch.Problem{Exit: 2, Code: "not_over", Message: fmt.Sprintf("the run %s has not ended", past.ID), Next: "colony resume " + past.ID}
	case finished.Commit == "" || finished.Commit == finished.Base:
		return pullRequest{}, &hatch.Problem{Exit: 3, Code: "nothing_landed", Message: fmt.Sprintf("nothing has landed in the run %s", past.ID), Next: "colony status " + past.ID + " says why"}
	case cmp.Or(into, started.On) == "":
		return pullRequest{}, &hatch.Problem{Exit: 2, Code: "no_branch", Message: "the run began on no branch", Next: "name one with --into BRANCH"}
	}
	p := pullRequest{Run: past.ID, Head: finished.Branch, Base: cmp.Or(into, started.On), Title: a.detector().Redact(title(started.Goal, *finished)), Text: filepath.Join(past.Dir, "pull-request.md")}
	p.Body = a.detector().Redact(proposal(started, *finished))
	if err := os.WriteFile(p.Text, []byte(p.Body), 0o600); err != nil {
		return p, fmt.Errorf("write the text of the pull request: %w", err)
	}
	return p, nil
}

// title is that of the goal, else of the first task that landed.
func title(goal string, f event.RunFinished) string {
	if at := slices.IndexFunc(f.Tasks, func(t event.TaskReport) bool { return t.Status == "landed" }); strings.TrimSpace(goal) == "" && at >= 0 {
		goal = f.Tasks[at].Title
	}
	return view.Line(plan.One(cmp.Or(goal, f.Branch)).Tasks[0].Title)
}

// closable is an issue that a text may close.
var closable = regexp.MustCompile(`^(#[0-9]+|https://[A-Za-z0-9.-]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/issues/[0-9]+)$`)

// proposal is the text of a pull request: what landed, with its receipts, and what did not.
func proposal(started event.RunStarted, f event.RunFinished) string {
	r := &report{}
	r.text(started.Goal)
	landed, unverified := 0, 0
	for _, t := range f.Tasks {
		if t.Status == "landed" {
			landed++
			if !t.Verified {
				unverified++
			}
		}
	}
	r.text(fmt.Sprintf("%d of %d tasks landed, %d of them without any gate to pass on the combined tree. Colony run %s, base %s, %s.",
		landed, len(f.Tasks), unverified, strings.TrimPrefix(f.Branch, "colony/"), short(f.Base), money(f.USD, f.Price)))
	if issue := started.Labels["issue"]; closable.MatchString(issue) {
		fmt.Fprintf(&r.b, "Closes %s\n\n", issue)
	}
	r.outcome(f)
	return r.b.String()
}

// remoteOf is where the person's git sends a branch.
func remoteOf(ctx context.Context, root, branch string) (string, error) {
	configured, err := exec.CommandContext(ctx, "git", "-C", root, "config", "--get", "branch."+branch+".remote").Output()
	var none *exec.ExitError
	if err != nil && !errors.As(err, &none) {
		return "", fmt.Errorf("ask git for the remote of %s: %w", branch, err)
	}
	remote := cmp.Or(strings.TrimSpace(string(configured)), "origin")
	if err := exec.CommandContext(ctx, "git", "-C", root, "config", "--get", "remote."+remote+".url").Run(); err != nil || strings.HasPrefix(remote, "-") {
		return "", &hatch.Problem{Exit: 2, Code: "no_remote", Message: "the repository has no remote " + remote + " to propose the run to", Next: "git remote add origin URL"}
	}
	return remote, nil
}

// asPerson runs a command in the checkout with the person's terminal and environment, and returns what it printed.
func (a *app) asPerson(ctx context.Context, root string, argv []string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin = root, os.Stdin
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

func (a *app) sayPullRequest(p pullRequest, push string) error {
	if a.json {
		return printJSON(a.out, p)
	}
	if p.URL != "" {
		_, err := fmt.Fprintf(a.out, "proposed %s for %s: %s\n", p.Head, view.Line(p.Base), view.Line(p.URL))
		return err
	}
	_, err := fmt.Fprintf(a.out, "There is no gh here, so nothing was pushed. A pull request of %s for %s is prepared:\n%s\nnext: %s\nnext: open it with the text in %s\n",
		p.Head, view.Line(p.Base), view.Line(p.Title), view.Line(push), view.Line(p.Text))
	return err
}
