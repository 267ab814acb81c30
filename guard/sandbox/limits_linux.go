package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A limit on the memory of each process would not bound a job, and would end what only reserves addresses, as the race
// detector and most virtual machines do. So the helper adds up what the job's processes hold by themselves.

const lookAfter = 200 // milliseconds

// follow waits for the end of colony, however colony ends, or for its wish that the job ends: then gone is called, for as
// long as it returns. From time to time it looks at the job's processes, and ends a job that holds more than so many bytes,
// which it says on its stderr.
func follow(most int64, members func() []int, end, gone func()) {
	said, wait := false, lookAfter
	for {
		order := []unix.PollFd{{Fd: orderFD, Events: unix.POLLIN}} // there is no second order: it is the end
		n, err := unix.Poll(order, wait)
		switch {
		case err == unix.EINTR:
		case err != nil || n > 0:
			gone()
			time.Sleep(time.Millisecond)
		case held(members()) > most:
			if !said {
				fmt.Fprintf(os.Stderr, "colony: this command was ended: it used more than %d MiB of memory\n", most>>20)
			}
			said, wait = true, 1
			end()
		}
	}
}

// held is what processes hold beside what they share with others or can read again, in bytes.
func held(pids []int) int64 {
	var pages int64
	for _, pid := range pids {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		if f := strings.Fields(string(text)); err == nil && len(f) > 2 {
			resident, _ := strconv.ParseInt(f[1], 10, 64)
			shared, _ := strconv.ParseInt(f[2], 10, 64)
			pages += resident - shared
		}
	}
	return pages * int64(os.Getpagesize())
}

// everybody are the processes of this namespace but for the first, which is this one.
func everybody() (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// children are the processes that a process started, or took over.
func children(pid int) (pids []int) {
	at := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := os.ReadDir(at)
	if err != nil {
		return nil
	}
	for _, task := range tasks {
		list, err := os.ReadFile(at + "/" + task.Name() + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for word := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(word); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// offspring are the processes below this one.
func offspring() []int {
	all := children(os.Getpid())
	for i := 0; i < len(all); i++ {
		all = append(all, children(all[i])...)
	}
	return all
}

// machineMemory is how many bytes this machine has.
func machineMemory() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}

// A group bounds the processes of a job that runs as root without namespaces, for which no other limit holds.
type group struct{ dir string }

// needsGroup says that nothing else bounds a job's processes: root's are not, unless this process's own are already.
func needsGroup() bool { return os.Geteuid() == 0 && !alreadyBounded() }

func alreadyBounded() bool {
	for _, dir := range groupDirs() {
		if text, err := os.ReadFile(filepath.Join(dir, "pids.max")); err == nil && len(bytes.TrimSpace(text)) > 0 && string(bytes.TrimSpace(text)) != "max" {
			return true
		}
	}
	return false
}

// groupDirs are where this process's group may lie, and the top.
func groupDirs() []string {
	var dirs []string
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(f) < 3:
		case f[1] == "":
			dirs = append(dirs, filepath.Join("/sys/fs/cgroup", f[2]), "/sys/fs/cgroup")
		case strings.Contains(","+f[1]+",", ",pids,"):
			dirs = append(dirs, filepath.Join("/sys/fs/cgroup/pids", f[2]), "/sys/fs/cgroup/pids")
		}
	}
	return dirs
}

func newGroup(processes int) (group, error) {
	for _, dir := range groupDirs() {
		made, err := os.MkdirTemp(dir, "colony-")
		if err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(made, "pids.max"), []byte(strconv.Itoa(processes)), 0); err == nil {
			return group{made}, nil
		}
		os.Remove(made)
	}
	return group{}, errors.New("run as root, it cannot bound how many processes a job has: no group of processes can be made; run colony as another user")
}

// remove removes the group when its last process has ended, which the kernel may take a moment to see.
func (g group) remove() error {
	if g.dir == "" {
		return nil
	}
	var err error
	for range 100 {
		if err = os.Remove(g.dir); err == nil || !errors.Is(err, unix.EBUSY) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

// enter puts this process into the group, if it is one.
func enter(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0); err != nil {
		return fmt.Errorf("enter the group: %w", err)
	}
	return nil
}
