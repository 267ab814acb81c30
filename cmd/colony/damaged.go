package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"colony/event"
	"colony/hatch"
	"colony/view"
)

// damaged is a run whose log cannot be read to its end.
type damaged struct {
	Run   string `json:"run"`
	Error string `json:"error"`
}

// unreadable reports whether an error is of a log itself: damaged, or written by a newer colony. It does not keep a verb
// from telling of the other runs.
func unreadable(err error) bool {
	var corrupt *event.CorruptError
	var newer *event.FormatError
	return errors.As(err, &corrupt) || errors.As(err, &newer)
}

// broken takes down that the log could not be read on, where that is why.
func (p *progress) broken(err error) bool {
	if !unreadable(err) {
		return false
	}
	p.Status, p.Error = "damaged", err.Error()
	var newer *event.FormatError
	if errors.As(err, &newer) {
		p.Status = "newer"
	}
	return true
}

// found ends a verb that showed what is whole of a log. Under --json the row has said it.
func (a *app) found(err error) error {
	if err != nil && a.json {
		a.exit = 3
		return nil
	}
	return err
}

// advise prints the next step of a problem.
func (a *app) advise(err error) {
	var p *hatch.Problem
	if errors.As(err, &p) && p.Next != "" {
		fmt.Fprintf(a.err, "next: %s\n", view.Text(p.Next))
	}
}

// diskProblem is the problem of a disk that takes nothing; nil where err is another trouble.
func diskProblem(err error) *hatch.Problem {
	var stuck *event.StuckError
	switch {
	case errors.As(err, &stuck) && !stuck.Full():
		return &hatch.Problem{Exit: 1, Code: "disk", Message: stuck.Error(), Next: "mend the disk, then colony resume " + filepath.Base(stuck.Log)}
	case errors.As(err, &stuck):
		return &hatch.Problem{Exit: 1, Code: "disk_full", Message: stuck.Error(), Next: "free some space, then colony resume " + filepath.Base(stuck.Log)}
	case full(err):
		return &hatch.Problem{Exit: 1, Code: "disk_full", Message: "the disk is full: " + err.Error(), Next: "free some space; colony gc removes what no run needs"}
	}
	return nil
}

// full reports whether a disk has no room: as a call of the system says it, or as git does.
func full(err error) bool {
	var p *hatch.Problem
	if errors.As(err, &p) {
		return false // it says so itself
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(strings.ToLower(err.Error()), "no space left on device")
}
