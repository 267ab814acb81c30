package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	wrapperName = "colony: sandbox wrapper" // argv[0] of colony started to become bubblewrap
	wrappedName = "colony: sandbox wrapped" // argument of colony started in a sandbox of bubblewrap's making
	firstFD     = 5                         // of the files that a helper is given beside order and report
	wrappedExe  = "/proc/self/fd/5"         // this program, wherever it lies and whether a job may see it or not
)

// wrapped runs a job in a sandbox that bubblewrap makes. A helper in it looks whether all is as it was asked for.
func (s *Sandbox) wrapped(ctx context.Context, j Job) (Exit, error) {
	bwrap, err := bubblewrap()
	if err != nil {
		return Exit{}, err
	}
	o := s.order(j)
	files, err := o.pin()
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if err != nil {
		return Exit{}, err
	}
	if o.Outside, err = belongings(); err != nil {
		return Exit{}, fmt.Errorf("sandbox: %w", err)
	}
	told, err := json.Marshal(o)
	if err != nil {
		return Exit{}, fmt.Errorf("sandbox: write order: %w", err)
	}
	h, err := launch("/proc/self/exe", append([]string{wrapperName, bwrap}, wrapArgs(o.Places, os.Geteuid() == 0)...), j.Stdin, files, &syscall.SysProcAttr{Setsid: true})
	if err != nil {
		return Exit{}, err
	}
	return s.serve(ctx, h, j, told)
}

// becomeBubblewrap does what has to be done before, since not all of it can be done within, and does not return.
func becomeBubblewrap(path string, args []string) {
	err := offerMemory()
	if err == nil {
		err = syscall.Exec(path, append([]string{"bwrap"}, args...), nil)
	}
	fmt.Fprintln(os.Stderr, "colony: start bubblewrap:", err)
	syscall.Exit(125)
}

// bubblewrap is where it lies.
func bubblewrap() (string, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "", fmt.Errorf("bwrap is not on PATH")
	}
	return path, nil
}

// pin opens what the places show, this program first, so that nobody can put something else there meanwhile. What is to be
// hidden and cannot be reached is left out.
func (o *order) pin() (files []*os.File, err error) {
	exe, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	files = append(files, exe)
	var places []place
	for _, p := range o.Places {
		if p.Kind == memory || p.Kind == process {
			places = append(places, p)
			continue
		}
		fd, err := straightFD(p.From)
		if err != nil && p.Kind == hide && unseen(err) {
			continue
		}
		if err != nil {
			return files, fmt.Errorf("sandbox: %s: %w", p.From, err)
		}
		f := os.NewFile(uintptr(fd), p.From)
		var stat unix.Stat_t
		if err := unix.Fstat(fd, &stat); err != nil {
			f.Close()
			return files, fmt.Errorf("sandbox: %s: %w", p.From, err)
		}
		p.Dev, p.Ino, p.Dir = uint64(stat.Dev), stat.Ino, stat.Mode&unix.S_IFMT == unix.S_IFDIR
		if p.Kind == hide {
			f.Close()
		} else {
			p.FD = firstFD + len(files)
			files = append(files, f)
		}
		places = append(places, p)
	}
	o.Places = places
	return files, nil
}

// wrapArgs are bubblewrap's arguments for the places. Root's processes are bounded by a /proc of the helper's making, for
// which it keeps its powers until then.
func wrapArgs(places []place, root bool) []string {
	args := []string{
		"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--as-pid-1", "--ro-bind", "/", "/",
	}
	if root {
		args = append(args, "--cap-add", "CAP_SYS_RESOURCE")
	} else {
		args = append(args, "--disable-userns")
	}
	var sealed []string
	for _, p := range places {
		from := "/proc/self/fd/" + strconv.Itoa(p.FD)
		switch {
		case p.Kind == process:
			args = append(args, "--proc", p.At)
			if !root {
				sealed = append(sealed, p.At)
			}
		case p.Kind == memory:
			args = append(args, "--perms", "1777", "--tmpfs", p.At)
		case p.Kind == write:
			args = append(args, "--bind", from, p.At)
		case p.Kind == device:
			args = append(args, "--dev-bind", from, p.At)
		case p.Kind == hide && p.Dir:
			args = append(args, "--perms", "0755", "--tmpfs", p.At)
			sealed = append(sealed, p.At)
		case p.Kind == hide:
			args = append(args, "--ro-bind", "/dev/null", p.At)
		default:
			args = append(args, "--ro-bind", from, p.At)
		}
	}
	for name, to := range devLinks {
		args = append(args, "--symlink", "/proc/self/fd"+to, "/dev/"+name)
	}
	for _, at := range sealed {
		args = append(args, "--remount-ro", at)
	}
	return append(args, "--", wrappedExe, wrappedName)
}

// namespaceNames are the namespaces that a job has for itself.
var namespaceNames = [...]string{"user", "mnt", "pid", "net", "ipc", "uts"}

// belongings are the namespaces of this process.
func belongings() ([]string, error) {
	var all []string
	for _, name := range namespaceNames {
		id, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	return all, nil
}

// inBubblewrap takes nothing that bubblewrap made on trust: each namespace and each place is looked at.
func inBubblewrap(o order) ([]int, error) {
	if err := leaveKeys(); err != nil {
		return nil, err
	}
	ours, err := belongings()
	if err != nil {
		return nil, err
	}
	for i, name := range namespaceNames {
		if len(o.Outside) != len(ours) || ours[i] == o.Outside[i] {
			return nil, fmt.Errorf("bubblewrap made no %s namespace", name)
		}
	}
	if os.Getpid() != 1 {
		return nil, errors.New("bubblewrap made this process another than the first")
	}
	for i, p := range o.Places {
		if i+1 < len(o.Places) && o.Places[i+1].At == p.At {
			continue // it lies over this one
		}
		if err := p.look(); err != nil {
			return nil, fmt.Errorf("bubblewrap made a wrong %s: %w", p.At, err)
		}
	}
	if err := isReadOnly("/"); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		if err := boundRoot(o.Processes); err != nil {
			return nil, err
		}
	}
	listeners, err := ports(o.Ports)
	if err != nil {
		return nil, err
	}
	return listeners, settleIn(o)
}

// look says what is wrong with a place, in the view that is there.
func (p place) look() error {
	fd, err := straightFD(p.At)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	var fs unix.Statfs_t
	if err := errors.Join(unix.Fstat(fd, &stat), unix.Fstatfs(fd, &fs)); err != nil {
		return err
	}
	same := uint64(stat.Dev) == p.Dev && stat.Ino == p.Ino
	closed := fs.Flags&unix.ST_RDONLY != 0
	switch {
	case p.Kind == process && fs.Type != unix.PROC_SUPER_MAGIC, p.Kind == memory && fs.Type != unix.TMPFS_MAGIC:
		return errors.New("it is of another kind")
	case (p.Kind == read || p.Kind == write || p.Kind == device) && !same:
		return fmt.Errorf("it does not show %s", p.From)
	case p.Kind == read && !closed, p.Kind == hide && p.Dir && !closed:
		return errors.New("it is writable")
	case p.Kind == hide && same && p.From != "/dev/null":
		return errors.New("it is not hidden")
	case p.Kind == hide && !p.Dir && stat.Rdev != unix.Mkdev(1, 3):
		return errors.New("it is not hidden")
	}
	return nil
}

func isReadOnly(path string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return err
	}
	if fs.Flags&unix.ST_RDONLY == 0 {
		return fmt.Errorf("bubblewrap left %s writable", filepath.Clean(path))
	}
	return nil
}

// boundRoot puts a /proc over the one that is there, in which root's processes are bounded and none makes namespaces.
func boundRoot(processes int) error {
	fd, err := procfs(processes)
	if err != nil {
		return fmt.Errorf("make /proc: %w", err)
	}
	defer unix.Close(fd)
	return attach(mounted{place: place{At: "/proc", Kind: process}, fd: fd, dir: true})
}
