//go:build linux

package event_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"colony/event"
)

// mounted runs the test again in namespaces of its own, where it may mount, and reports whether this is that run.
func mounted(t *testing.T) bool {
	t.Helper()
	if os.Getenv("EVENT_TEST_MOUNTS") == t.Name() {
		return true
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=3m")
	again.Env = append(os.Environ(), "EVENT_TEST_MOUNTS="+t.Name())
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(target, syscall.MNT_DETACH) })
}

// filled writes to a file until its file system has no room, and is how many bytes that took.
func filled(t *testing.T, path string) (n int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		wrote, err := f.Write(make([]byte, size))
		n += int64(wrote)
		if errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// JR04: a file system of 16 MiB fills up during an append; space comes back. The run waits with a typed error, no byte
// of what went wrong is left, it goes on, and every record is read.
func TestFullDisk(t *testing.T) {
	if !mounted(t) {
		return
	}
	disk := t.TempDir()
	mount(t, "none", disk, "tmpfs", 0, "size=16m")
	dir, ballast := filepath.Join(disk, "log"), filepath.Join(disk, "ballast")
	var seen []*event.StuckError
	s, err := event.Open(t.Context(), dir, event.Parts{Run: "r-1", Now: time.Now, Stuck: func(e *event.StuckError) bool {
		seen = append(seen, e)
		if len(seen) == 3 {
			if err := os.Remove(ballast); err != nil {
				t.Error(err)
			}
		}
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	warn(t, s, "before")
	t.Logf("%d bytes of ballast", filled(t, ballast))
	var want []string
	for i := range 20 { // a record that no page has room for
		want = append(want, fmt.Sprint(i, strings.Repeat(" long", 20_000)))
		warn(t, s, want[i])
	}
	if len(seen) < 3 || !seen[0].Full() {
		t.Fatalf("%d times stuck", len(seen))
	}
	t.Logf("stuck: %v", seen[0])
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	got := told(t, dir)
	if n := slices.Index(got, "paused"); n < 1 || !slices.Equal(slices.Delete(slices.Clone(got), n, n+1), append([]string{"before"}, want...)) {
		t.Errorf("%d texts, paused at %d", len(got), n)
	}
}

// A log in a directory that nobody can write to is read: one that was closed, one whose owner was killed, and one that
// lost its end is named.
func TestReadOnlyDirectory(t *testing.T) {
	if !mounted(t) {
		return
	}
	whole, before := killed(t)
	for name, files := range map[string]files{"closed": closed(t), "killed": whole, "cut": whole.with("events.db-wal", before["events.db-wal"])} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			files.put(t, dir)
			t.Setenv("TMPDIR", t.TempDir())
			mount(t, dir, dir, "", syscall.MS_BIND, "")
			mount(t, dir, dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
			got, err := looked(t, dir)
			if name == "cut" && !named(err) || name != "cut" && !slices.Equal(got, []string{"1", "2", "3", "4"}) {
				t.Errorf("%q, %v", got, err)
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
			if _, err := event.Open(t.Context(), dir, event.Parts{Run: "r-1", Now: time.Now}); !errors.Is(err, syscall.EROFS) {
				t.Errorf("owner: %v", err)
			}
		})
	}
}

// Who may only read a run's directory follows what its living owner appends.
func TestFollowReadOnly(t *testing.T) {
	if !mounted(t) {
		return
	}
	dir, view := t.TempDir(), t.TempDir()
	o := start(t, dir)
	o.append(t, "1")
	mount(t, dir, view, "", syscall.MS_BIND, "")
	mount(t, dir, view, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	r, err := event.OpenReader(view)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for e, err := range r.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
		if e.Seq != event.Seq(n) {
			t.Fatalf("event %d", e.Seq)
		}
		io.WriteString(o.in, "next\n")
	}
}
