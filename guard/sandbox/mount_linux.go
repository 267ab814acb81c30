package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	quiet    = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	tmpLimit = "50%" // of the machine's memory
)

// A mounted place is a file system made ready, not yet where it will be seen.
type mounted struct {
	place
	fd  int
	dir bool
}

// build makes the whole view of this process: all is read-only but the places. Every place is opened before the first is
// covered, so that what lies in a hidden directory can be shown again.
func build(o order) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	var ready []mounted
	for _, p := range o.Places {
		m, err := prepare(p, o.Processes)
		if err != nil && !(p.Kind == hide && unseen(err)) {
			return fmt.Errorf("prepare %s: %w", p.At, err)
		}
		if err == nil {
			ready = append(ready, m)
		}
	}
	all := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | quiet}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &all); err != nil {
		return fmt.Errorf("make all read-only: %w", err)
	}
	for _, m := range ready {
		if err := attach(m); err != nil && !(m.Kind == hide && unseen(err)) {
			return fmt.Errorf("mount %s: %w", m.At, err)
		}
	}
	return seal(ready)
}

// unseen says that a path to hide cannot be reached: there is nothing to hide.
func unseen(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOTDIR) ||
		errors.Is(err, unix.EROFS)
}

func prepare(p place, processes int) (mounted, error) {
	switch p.Kind {
	case memory:
		fd, err := tmpfs("1777")
		return mounted{p, fd, true}, err
	case process:
		fd, err := procfs(processes)
		return mounted{p, fd, true}, err
	case hide:
		return cover(p)
	case device:
		return clone(p, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID, Attr_clr: unix.MOUNT_ATTR_NODEV})
	}
	m, err := clone(p, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | quiet})
	if err == nil && p.Kind == write { // the file system itself, none that is mounted in it
		err = unix.MountSetattr(m.fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	}
	return m, err
}

// cover makes what hides a path: an empty directory, or the null device for a file.
func cover(p place) (mounted, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(p.From, &stat); err != nil {
		return mounted{}, err
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		fd, err := tmpfs("755")
		return mounted{p, fd, true}, err
	}
	p.From = "/dev/null"
	return clone(p, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID, Attr_clr: unix.MOUNT_ATTR_NODEV})
}

// clone copies the mounts at p.From, reached without following a link.
func clone(p place, attr unix.MountAttr) (mounted, error) {
	at, err := straightFD(p.From)
	if err != nil {
		return mounted{}, err
	}
	defer unix.Close(at)
	var stat unix.Stat_t
	if err := unix.Fstat(at, &stat); err != nil {
		return mounted{}, err
	}
	fd, err := unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return mounted{}, err
	}
	err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr)
	return mounted{p, fd, stat.Mode&unix.S_IFMT == unix.S_IFDIR}, err
}

func straightFD(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
}

// direct says that a path is there and leads through no link. One that is not clean may be either.
func direct(path string) bool {
	fd, err := straightFD(path)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return filepath.IsAbs(path) && filepath.Clean(path) == path
}

// there says that something has the path, be it a link that leads nowhere.
func there(path string) bool {
	var stat unix.Stat_t
	return unix.Lstat(path, &stat) == nil
}

func tmpfs(mode string) (int, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fs)
	if err := errors.Join(unix.FsconfigSetString(fs, "mode", mode), unix.FsconfigSetString(fs, "size", tmpLimit),
		unix.FsconfigCreate(fs)); err != nil {
		return 0, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, quiet)
}

// procfs makes a /proc of this process namespace. All of it is read-only: the user behind the job may own the kernel's
// settings, capabilities or not.
func procfs(processes int) (int, error) {
	fs, err := unix.Fsopen("proc", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return 0, err
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, quiet|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return 0, err
	}
	// No namespaces within: they would give a job capabilities again.
	if err := set(fd, "sys/user/max_user_namespaces", 0); err != nil {
		return 0, err
	}
	if ownPidMax() { // the process limit below does not bind root
		if err := set(fd, "sys/kernel/pid_max", max(processes, 301)); err != nil {
			return 0, err
		}
	}
	return fd, unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

func set(proc int, name string, value int) error {
	fd, err := unix.Openat(proc, name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte(strconv.Itoa(value))); err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}

// ownPidMax says whether pid_max belongs to the namespace; before Linux 6.14 it is the whole machine's.
func ownPidMax() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	var major, minor int
	if n, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor); n != 2 || err != nil {
		return false
	}
	return major > 6 || major == 6 && minor >= 14
}

// attach puts a mount where it is seen. In a covered directory its place is made first.
func attach(m mounted) error {
	if err := standIn(m); err != nil {
		return err
	}
	at, err := straightFD(m.At)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	return unix.MoveMount(m.fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

func standIn(m mounted) error {
	if _, err := os.Lstat(m.At); err == nil || m.Kind == hide {
		return err
	}
	if m.dir {
		return os.MkdirAll(m.At, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(m.At), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(m.At, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// devLinks are the names in /dev of a process's own files.
var devLinks = map[string]string{"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}

// seal ends the making of places in covered directories.
func seal(ready []mounted) error {
	for name, to := range devLinks {
		if err := os.Symlink("/proc/self/fd"+to, "/dev/"+name); err != nil {
			return err
		}
	}
	for _, m := range ready {
		if m.Kind == hide && m.dir {
			attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
			if err := unix.MountSetattr(m.fd, "", unix.AT_EMPTY_PATH, &attr); err != nil {
				return fmt.Errorf("seal %s: %w", m.At, err)
			}
		}
		if err := unix.Close(m.fd); err != nil {
			return err
		}
	}
	return nil
}
