package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Proof is one break-out that was tried. It is void where it does not work without a sandbox either: then that it did
// not work within one shows nothing.
type Proof struct {
	Name       string
	Held, Void bool
}

const proofLimit = 20 * time.Second // for one break-out

// Prove tries every break-out of its list in a scratch world below dir, first in the open and then at the level, and says
// what came of each and which mechanism held: the first that holds, or of those that are named. At level off none is held.
func Prove(ctx context.Context, level, dir string, by ...string) (mechanism string, proofs []Proof, err error) {
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return "", nil, fmt.Errorf("sandbox: %w", err)
	}
	worlds := [2]*scratch{}
	for i, level := range [2]string{Off, level} {
		if worlds[i], err = newScratch(ctx, level, dir, by); err != nil {
			return "", nil, err
		}
		defer worlds[i].close()
	}
	for _, b := range breakouts {
		var broke [2]bool
		for i, w := range worlds {
			if broke[i], err = w.try(ctx, b); err != nil {
				return "", nil, fmt.Errorf("try to %s: %w", b.name, err)
			}
		}
		proofs = append(proofs, Proof{Name: b.name, Held: !broke[1], Void: !broke[0]})
	}
	return worlds[1].box.Mechanism(), proofs, nil
}

// A breakout is a command that would do harm, and how it is seen from outside that it did.
type breakout struct {
	name, line string
	broke      func(w *scratch, said string) bool
}

const canary = "colony-proof-canary"

// breakouts run in $R/state/wt/work; all that they would touch is scratch.
var breakouts = [...]breakout{
	{"write a file outside the worktree", `echo x > $R/home/new`, made("home/new")},
	{"write through a link", `ln -s $R/home out; echo x > out/linked`, made("home/linked")},
	{"change the mode of a file outside", `chmod 777 $R/home/notes`, func(w *scratch, _ string) bool {
		info, err := os.Stat(w.root + "/home/notes")
		return err == nil && info.Mode().Perm() == 0o777
	}},
	{"move the worktree", `mv ../work ../moved`, func(w *scratch, _ string) bool {
		return os.Rename(w.root+"/state/wt/moved", w.work) == nil
	}},
	{"plant a hook in the repository", `echo x > $R/repo/.git/hooks/post-checkout`, made("repo/.git/hooks/post-checkout")},
	{"plant a hook in the worktree", `echo x > .git/hooks/pre-commit`, made("state/wt/work/.git/hooks/pre-commit")},
	{"leave a list of servers to start", `echo x > .mcp.json`, made("state/wt/work/.mcp.json")},
	{"forge an entry of the gates' cache", `echo x > $R/state/cache/entry`, made("state/cache/entry")},
	{"leave a file in /tmp", `echo x > /tmp/$NAME`, func(w *scratch, _ string) bool { return os.Remove("/tmp/"+w.name) == nil }},
	{"leave a file in shared memory", `echo x > /dev/shm/$NAME`, func(w *scratch, _ string) bool { return os.Remove("/dev/shm/"+w.name) == nil }},
	{"read a key in the home", `cat $R/home/.ssh/id_ed25519`, said},
	{"read the log", `cat $R/state/events.db`, said},
	{"read the settings", `cat $R/config/config.yaml`, said},
	{"read the environment of a process", `tr '\0' '\n' < /proc/$VICTIM/environ`, said},
	{"end a process", `kill -9 $VICTIM`, func(w *scratch, _ string) bool { return w.victimGone() }},
	{"outlive the command", `setsid sh -c 'exec 3>alive; echo $$ > left; exec sleep 60' &
while [ ! -s left ]; do : > try || { sleep 0.3; break; }; sleep 0.01; done`,
		func(w *scratch, _ string) bool { return w.survivor() }},
	{"reach a server on this machine", `echo x > /dev/tcp/127.0.0.1/$TCP`, heard("tcp")},
	{"send a datagram", `echo x > /dev/udp/127.0.0.1/$UDP`, heard("udp")},
	{"reach a socket of an agent", `exec -a "` + dialName + `" $EXE $R/agent`, heard("unix")},
	{"reach an abstract socket", `exec -a "` + dialName + `" $EXE @$NAME`, heard("abstract")},
}

func made(path string) func(*scratch, string) bool {
	return func(w *scratch, _ string) bool { return os.Remove(filepath.Join(w.root, path)) == nil }
}

func said(_ *scratch, out string) bool { return strings.Contains(out, canary) }

func heard(ear string) func(*scratch, string) bool {
	return func(w *scratch, _ string) bool { return w.ears[ear].heard() }
}

// try runs one break-out as an ant's command and looks what came of it.
func (w *scratch) try(ctx context.Context, b breakout) (bool, error) {
	if err := w.ready(); err != nil {
		return false, err
	}
	limited, cancel := context.WithTimeout(ctx, proofLimit)
	defer cancel()
	var out strings.Builder
	j := Job{
		Argv: []string{"bash", "-c", b.line}, Dir: w.work, Env: w.env(), Stdout: &out, Stderr: &out,
		Writable: []string{w.work}, Readable: []string{w.work + "/.git"}, Protected: []string{w.work + "/.mcp.json"},
	}
	if w.exe != "" {
		j.Readable = append(j.Readable, w.exe)
	}
	if _, err := w.box.Run(limited, j); err != nil && (ctx.Err() != nil || !errors.Is(limited.Err(), context.DeadlineExceeded)) {
		return false, err
	}
	return b.broke(w, out.String()), nil
}
