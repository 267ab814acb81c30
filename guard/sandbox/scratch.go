package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A scratch is a user's machine in little, for break-outs: a home with a key in it, a repository, colony's directories, a
// worktree, a process and servers.
type scratch struct {
	root, work, name, exe string
	box                   *Sandbox
	victim                *exec.Cmd
	ears                  map[string]*ear
	alive                 int // the reading end of a pipe that a survivor holds
}

func newScratch(ctx context.Context, level, dir string, by []string) (w *scratch, err error) {
	w = &scratch{alive: -1, ears: map[string]*ear{}}
	if w.root, err = os.MkdirTemp(dir, "p"); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	w.work, w.name = w.root+"/state/wt/work", "colony-proof-"+strconv.Itoa(os.Getpid())+filepath.Base(w.root)
	for path, text := range map[string]string{
		"home/notes": "notes", "home/.ssh/id_ed25519": canary, "state/events.db": canary, "state/cache/README": "", "config/config.yaml": canary,
		"repo/.git/hooks/README": "", "state/wt/work/.git/hooks/README": "", "state/wt/work/file": "",
	} {
		if err := put(filepath.Join(w.root, path), text); err != nil {
			return nil, err
		}
	}
	if err := w.listen(); err != nil {
		return nil, err
	}
	if exe, err := os.Executable(); err == nil && straight(exe) == nil {
		w.exe = exe
	}
	w.box, err = New(ctx, Parts{Level: level, Home: w.root + "/home", State: w.root + "/state", Config: w.root + "/config", Mechanisms: by})
	return w, err
}

func put(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

// ready makes what a break-out may have used up.
func (w *scratch) ready() (err error) {
	if w.victim == nil {
		w.victim = exec.Command("sleep", "600")
		w.victim.Env = []string{"KEY=" + canary}
		if err := w.victim.Start(); err != nil {
			return err
		}
	}
	if w.alive < 0 {
		if err := unix.Mkfifo(w.work+"/alive", 0o600); err != nil {
			return err
		}
		w.alive, err = unix.Open(w.work+"/alive", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}
	return err
}

func (w *scratch) env() []string {
	return []string{
		"R=" + w.root, "NAME=" + w.name, "EXE=" + w.exe, "VICTIM=" + strconv.Itoa(w.victim.Process.Pid),
		"TCP=" + w.ears["tcp"].port(), "UDP=" + w.ears["udp"].port(),
	}
}

// victimGone reaps the victim where it was killed, which takes it a moment.
func (w *scratch) victimGone() bool {
	for until := time.Now().Add(listenLimit); time.Now().Before(until); time.Sleep(time.Millisecond) {
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(w.victim.Process.Pid, &status, syscall.WNOHANG, nil); err == nil && pid > 0 {
			w.victim = nil
			return true
		}
	}
	return false
}

// survivor says that a process of the command is left, and ends it.
func (w *scratch) survivor() bool {
	var b [1]byte
	_, err := unix.Read(w.alive, b[:])
	if !errors.Is(err, unix.EAGAIN) {
		return false
	}
	text, err := os.ReadFile(w.work + "/left")
	if err != nil {
		return true
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
	}
	return true
}

func (w *scratch) close() {
	w.box.Close()
	if w.victim != nil {
		_ = w.victim.Process.Kill()
		_ = w.victim.Wait() // it was killed: that is how it ended
	}
	for _, e := range w.ears {
		e.close()
	}
	if w.alive >= 0 {
		unix.Close(w.alive)
	}
	os.RemoveAll(w.root)
}

// listen opens every ear. A path of a socket is short, so that its directory does not matter.
func (w *scratch) listen() error {
	for name, at := range map[string]string{"tcp": "127.0.0.1:0", "unix": w.root + "/agent", "abstract": "@" + w.name} {
		network := "unix"
		if name == "tcp" {
			network = "tcp"
		}
		l, err := net.Listen(network, at)
		if err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
		w.ears[name] = &ear{listener: l}
	}
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	w.ears["udp"] = &ear{packets: p}
	return nil
}

// An ear is a server that only says whether somebody came. What came before a command ended waits in its queue.
type ear struct {
	listener net.Listener
	packets  net.PacketConn
}

// listenLimit is how long an ear waits for who came already.
const listenLimit = 50 * time.Millisecond

func (e *ear) heard() bool {
	until := time.Now().Add(listenLimit)
	if e.packets != nil {
		var b [16]byte
		if e.packets.SetReadDeadline(until) != nil {
			return false
		}
		_, _, err := e.packets.ReadFrom(b[:])
		return err == nil
	}
	if limited, ok := e.listener.(interface{ SetDeadline(time.Time) error }); !ok || limited.SetDeadline(until) != nil {
		return false
	}
	conn, err := e.listener.Accept()
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func (e *ear) port() string {
	at := ""
	if e.packets != nil {
		at = e.packets.LocalAddr().String()
	} else {
		at = e.listener.Addr().String()
	}
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		return ""
	}
	return port
}

func (e *ear) close() {
	if e.packets != nil {
		e.packets.Close()
		return
	}
	e.listener.Close()
}

// dialName is argv[0] of colony started to reach a unix socket, which no shell can.
const dialName = "colony: sandbox dial"

// dial reaches a socket and ends this process.
func dial(at string) {
	conn, err := net.Dial("unix", at)
	if err != nil {
		os.Exit(9)
	}
	conn.Close()
	os.Exit(0)
}
