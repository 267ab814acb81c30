package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"
)

// Bounds of an ant's background commands: how many run at once, how many are remembered, and how many bytes
// of unread output each keeps.
const (
	maxRunningJobs = 8
	maxKeptJobs    = 64
	maxJobOutput   = 256 << 10
)

// Jobs are an ant's background commands. They are safe for concurrent use.
type Jobs struct {
	start  func(context.Context, Process) (Exit, error)
	group  conc.WaitGroup
	mu     sync.Mutex
	next   int             // guarded by mu
	closed bool            // guarded by mu
	jobs   map[string]*job // guarded by mu
	order  []string        // guarded by mu: ids, oldest first
}

type job struct {
	kill context.CancelFunc
	out  *tailBuffer
	done chan struct{} // closed when exit and err are set
	exit Exit
	err  error
}

// NewJobs has no job yet. Start runs a process to its end and kills all of it when its context is done.
func NewJobs(start func(context.Context, Process) (Exit, error)) *Jobs {
	return &Jobs{start: start, jobs: map[string]*job{}}
}

// Start begins a process, whose output both streams share, and returns its id.
func (j *Jobs) Start(p Process) (id string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return "", errors.New("start job: the ant has ended")
	}
	if running := j.running(); len(running) >= maxRunningJobs {
		return "", fmt.Errorf("start job: %d run already (%s): kill one first", len(running), strings.Join(running, ", "))
	}
	j.next++
	id = "job-" + strconv.Itoa(j.next)
	ctx, kill := context.WithCancel(context.Background())
	one := &job{kill: kill, out: &tailBuffer{cap: maxJobOutput}, done: make(chan struct{})}
	p.Stdout, p.Stderr = one.out, one.out
	j.keep(id, one)
	j.group.Go(func() {
		defer kill()
		defer close(one.done)
		if crash := panics.Try(func() { one.exit, one.err = j.start(ctx, p) }); crash != nil {
			one.err = fmt.Errorf("run job: %v", crash.Value)
		}
	})
	return id, nil
}

// Read is the output since the last Read, and how the job ended once it has. When output was dropped to keep
// the bound, text says how much. The error is an *ArgError for an unknown id, or the job's own.
func (j *Jobs) Read(id string) (text string, done bool, exit Exit, err error) {
	one, err := j.get(id)
	if err != nil {
		return "", false, Exit{}, err
	}
	select {
	case <-one.done:
		return one.out.take(), true, one.exit, one.err
	default:
		return one.out.take(), false, Exit{}, nil
	}
}

// Wait returns when the job has ended or the context is done, with the context's error then. An unknown id is
// an *ArgError.
func (j *Jobs) Wait(ctx context.Context, id string) error {
	one, err := j.get(id)
	if err != nil {
		return err
	}
	select {
	case <-one.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Kill ends the job and returns when it has ended. An unknown id is an *ArgError.
func (j *Jobs) Kill(id string) error {
	one, err := j.get(id)
	if err != nil {
		return err
	}
	one.kill()
	<-one.done
	return nil
}

// Close ends all jobs and waits for them. No job starts afterwards.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	for _, one := range j.jobs {
		one.kill()
	}
	j.mu.Unlock()
	j.group.Wait()
}

func (j *Jobs) get(id string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if one, ok := j.jobs[id]; ok {
		return one, nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(j.jobs)), ", ")
	if known == "" {
		known = "none was started"
	}
	return nil, &ArgError{Field: "job", Reason: fmt.Sprintf("no job %q", id), Hint: "jobs: " + known}
}

// running is the ids of jobs that have not ended. The caller holds mu.
func (j *Jobs) running() []string {
	return slices.DeleteFunc(slices.Clone(j.order), func(id string) bool { return j.jobs[id].ended() })
}

// keep remembers a job, and forgets the oldest one that has ended when there are too many. The caller holds mu.
func (j *Jobs) keep(id string, one *job) {
	j.jobs[id] = one
	j.order = append(j.order, id)
	if len(j.order) <= maxKeptJobs {
		return
	}
	if i := slices.IndexFunc(j.order, func(id string) bool { return j.jobs[id].ended() }); i >= 0 {
		delete(j.jobs, j.order[i])
		j.order = slices.Delete(j.order, i, i+1)
	}
}

func (o *job) ended() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}
