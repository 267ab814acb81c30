package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mechanisms are those of this platform, in the order in which they are tried.
var mechanisms = [...]string{Bubblewrap, Namespaces, Landlock}

// oldestLandlock is the first version that keeps a job from sending signals out: Linux 6.12.
const oldestLandlock = 6

// ready says why the mechanism cannot be tried here.
func (s *Sandbox) ready() error {
	switch s.mechanism {
	case Bubblewrap:
		_, err := bubblewrap()
		return err
	case Landlock:
		version, err := landlockVersion()
		if err != nil {
			return fmt.Errorf("this kernel has none: %w", err)
		}
		if version < oldestLandlock {
			return fmt.Errorf("this kernel has version %d, and signals are held from version %d on", version, oldestLandlock)
		}
		if syscallArch == 0 {
			return errors.New("this kernel's calls are not known here")
		}
	}
	return nil
}

func landlockVersion() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(version), nil
}

// A grant is a path, with all below it, that a job may read, or write too.
type grant struct {
	Path  string
	Write bool
}

// locked runs a job that Landlock and seccomp confine. It has the paths that it has outside, so that its /tmp is its
// scratch by another name, and what it must not change in a place that it may write is made what it was afterwards.
func (s *Sandbox) locked(ctx context.Context, j Job) (exit Exit, err error) {
	if len(j.Bound) > 0 {
		return Exit{}, errors.New("sandbox: landlock shows nothing at another place")
	}
	if j.Scratch == "" {
		dir, err := ownScratch()
		if err != nil {
			return Exit{}, err
		}
		defer func() { err = errors.Join(err, remove(dir)) }()
		j.Scratch = dir
	}
	inside := slices.DeleteFunc(slices.Clone(j.Readable), func(path string) bool {
		return s.level == ReadOnly || !slices.ContainsFunc(j.Writable, func(dir string) bool { return within(path, dir) })
	})
	copies, err := copyAll(inside)
	if err != nil {
		return Exit{}, err
	}
	o := s.order(j)
	if o.Grants, err = grants(o.Places); err != nil {
		return Exit{}, fmt.Errorf("sandbox: %w", err)
	}
	if needsGroup() {
		g, err := newGroup(s.processes)
		if err != nil {
			return Exit{}, fmt.Errorf("sandbox: %w", err)
		}
		defer func() { err = errors.Join(err, g.remove()) }()
		o.Group = g.dir
	}
	o.Env = merge(o.Env, []string{"HOME=" + j.Scratch + "/home", "TMPDIR=" + j.Scratch}, j.Env)
	told, err := json.Marshal(o)
	if err != nil {
		return Exit{}, fmt.Errorf("sandbox: write order: %w", err)
	}
	h, err := launch("/proc/self/exe", []string{lockedName}, j.Stdin, nil, &syscall.SysProcAttr{Setsid: true})
	if err != nil {
		return Exit{}, err
	}
	h.cmd.Cancel = h.order.Close // the helper ends the job, which nothing else would
	exit, err = s.serve(ctx, h, j, told)
	return exit, errors.Join(err, reopen(j.Writable), restoreAll(copies, j.Stderr))
}

// grants are the places as Landlock can say them: it only adds, so what is hidden is left out of what is listed beside it.
func grants(places []place) ([]grant, error) {
	all, err := spread("/", places)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		switch {
		case i+1 < len(places) && places[i+1].At == p.At: // another kind of place lies over it
		case p.Kind == write:
			if at := slices.IndexFunc(places, func(o place) bool { return o.Kind == hide && within(o.At, p.From) }); at >= 0 {
				return nil, fmt.Errorf("landlock cannot hide %s in %s, which is writable", places[at].At, p.From)
			}
			all = append(all, grant{p.From, true})
		case p.Kind == device:
			all = append(all, grant{p.From, true})
		case p.Kind == process:
			all = append(all, grant{p.At, false})
		case p.Kind == read && p.From != "/":
			more, err := spread(p.From, places)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	return all, nil
}

// spread grants reading of a path: whole where no place lies in it, else piece by piece around the places. A directory
// that has one in it is not granted itself: it cannot be listed.
func spread(path string, places []place) ([]grant, error) {
	if !slices.ContainsFunc(places, func(p place) bool { return p.At != path && within(p.At, path) }) {
		return []grant{{path, false}}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var all []grant
	for _, e := range entries {
		at := filepath.Join(path, e.Name())
		if e.Type()&os.ModeSymlink != 0 || slices.ContainsFunc(places, func(p place) bool { return p.At == at }) {
			continue // where a link leads is granted as what it is; a place is granted as a place
		}
		more, err := spread(at, places)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// What Landlock knows of files, by version: reading, and all.
const (
	lockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	lockFile  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	lockAll   = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV<<1 - 1
	lockWrite = lockAll &^ (unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV)
)

// lock restricts this thread, and what it starts, to the grants for good: no other path, no TCP, no signal and no abstract
// socket outside.
func lock(all []grant) error {
	attr := unix.LandlockRulesetAttr{
		Handled_access_fs: lockAll, Handled_access_net: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP,
		Scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL,
	}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("make rules: %w", errno)
	}
	defer unix.Close(int(rules))
	for _, g := range all {
		if err := allow(int(rules), g); err != nil {
			return fmt.Errorf("allow %s: %w", g.Path, err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("restrict: %w", errno)
	}
	return nil
}

func allow(rules int, g grant) error {
	fd, err := straightFD(g.Path)
	if unseen(err) && !g.Write {
		return nil // it is gone: there is nothing to read
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	path := unix.LandlockPathBeneathAttr{Parent_fd: int32(fd), Allowed_access: lockRead}
	if g.Write {
		path.Allowed_access = lockWrite
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		path.Allowed_access &= lockFile
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&path)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
