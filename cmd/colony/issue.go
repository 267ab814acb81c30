package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"colony/hatch"

	"github.com/spf13/cobra"
)

// issue is what `gh issue view --json title,body,number,url,comments` prints. Only a title must be there.
type issue struct {
	Title, Body, URL string
	Number           int
	Comments         []struct {
		Author struct{ Login string }
		Body   string
	}
}

// mostIssue is how much of an issue becomes a goal, in bytes.
const mostIssue = 32 << 10

// readIssue reads an issue from a file, or from stdin where its name is -.
func (a *app) readIssue(cmd *cobra.Command, name string) (issue, error) {
	data, shown, err := a.input(name)
	if err != nil {
		return issue{}, err
	}
	var i issue
	if err := json.Unmarshal(data, &i); err != nil || strings.TrimSpace(i.Title) == "" {
		return issue{}, &hatch.Problem{Exit: 2, Code: "bad_issue", Message: shown + " is no issue with a title, as JSON", Next: "gh issue view N --json title,body,number,url,comments >issue.json"}
	}
	if goal := i.goal(); len(goal) > mostIssue {
		return issue{}, usage(cmd, fmt.Errorf("the issue has %d bytes, at most %d: leave its comments out, or shorten it", len(goal), mostIssue))
	}
	return i, nil
}

// goal is the issue as a goal.
func (i issue) goal() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", strings.TrimSpace(i.Title), strings.TrimSpace(i.Body))
	for _, c := range i.Comments {
		fmt.Fprintf(&b, "\nComment of %s:\n%s\n", cmp.Or(c.Author.Login, "somebody"), strings.TrimSpace(c.Body))
	}
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}

// label is what the run is marked with: where the issue is; empty where it does not say.
func (i issue) label() string {
	if i.URL == "" && i.Number > 0 {
		return fmt.Sprintf("#%d", i.Number)
	}
	return i.URL
}

// issueGoal is the goal of `run --issue`, and marks the run with the issue.
func (a *app) issueGoal(cmd *cobra.Command, o *runOptions, args []string) (string, error) {
	if len(args) > 0 {
		return "", usage(cmd, errors.New("a GOAL and an issue with --issue are there both: give one of them"))
	}
	i, err := a.readIssue(cmd, o.issue)
	if err != nil {
		return "", err
	}
	if label := i.label(); label != "" {
		o.labels = append([]string{"issue=" + label}, o.labels...)
	}
	return a.goal(cmd, []string{i.goal()})
}
