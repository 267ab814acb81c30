package tools

import (
	"context"
	"io"
	"net"
	"time"

	"colony/view"
)

// Env is what an ant's calls share. One per ant, built by hatch, safe for concurrent use.
type Env struct {
	Root     string        // the ant's worktree, absolute and resolved
	Ant      string        // id of the ant
	Cwd      func() string // where a call starts: absolute, inside Root
	Tools    *Registry     // this ant's own view
	Skills   []Skill       // by name; what its card may use
	Files    *FileState
	Jobs     *Jobs
	Locks    *PathLocks
	Blobs    *Blobs
	Ask      func(context.Context, Question) (Answer, error) // the one door to a person
	Exec     func(context.Context, Process) (Exit, error)    // sandboxed
	Dial     func(context.Context, string, string) (net.Conn, error)
	Now      func() time.Time
	Progress func(string)
}

// Question is put to a person. Kind is permission or question.
type Question struct {
	Kind, Text, Call, Digest string
	Choices                  []string
	Files                    string    // one hash over the files that the call names, as they are
	Views                    view.List // what the call would change, where it can say
	Grant                    string    // the rule that the answer ForRun stores; empty where that is no answer
}

// ForRun is the answer that allows a call now and whenever it comes again in this run.
const ForRun = "for this run"

// Answer is what came back. Headless means that nobody could answer; Text then says so.
type Answer struct {
	Text     string
	Allow    bool
	ForRun   bool // and whenever the same call comes again in this run
	Headless bool
}

// Process is a command to run in the ant's sandbox. Stdin is empty.
type Process struct {
	Argv           []string
	Dir            string   // absolute
	Env            []string // added to what the sandbox provides
	Stdout, Stderr io.Writer
}

// Exit is how a process ended. A process that was killed has a Signal and the code 128 + signal.
type Exit struct {
	Code     int
	Signal   string
	Duration time.Duration
}
