package sandbox_test

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"colony/guard/sandbox"
)

// snapshot is every path below root with its mode, time and content.
func snapshot(t *testing.T, root, except string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == except {
			return errOrSkip(err)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&all, path, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			fmt.Fprintf(&all, "%x\n", data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func errOrSkip(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=u", "-c", "user.email=u@e"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// An ant's shell changes neither the user's home nor the repository, and reaches no listener: contracts 61 and 78.
func TestAntHasNoEffectOutside(t *testing.T) {
	each(t, testAntHasNoEffectOutside)
}

func testAntHasNoEffectOutside(t *testing.T, w world) {
	repo := filepath.Join(w.home, "main")
	put(t, repo+"/a", "a")
	git(t, repo, "init", "-q")
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-qm", "a")
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer server.Close()
	accepted := listen(t)
	port := server.URL[strings.LastIndex(server.URL, ":")+1:]
	s := w.open(t, "workspace")
	before := snapshot(t, w.home, w.work)

	for _, line := range []string{
		fmt.Sprintf("echo x > %s/y; git -C %s branch evil; curl -m 5 -s 127.0.0.1:%s", w.home, repo, port),
		fmt.Sprintf("echo x > /dev/tcp/127.0.0.1/%s; echo x > /dev/tcp/%s", port, strings.Replace(accepted.addr, ":", "/", 1)),
	} {
		exit, out := run(t, s, w.sh(line))
		if exit.Code == 0 {
			t.Errorf("%s: succeeded\n%s", line, out)
		}
	}
	if snapshot(t, w.home, w.work) != before {
		t.Error("home or repository changed")
	}
	if hits.Load() != 0 || accepted.n.Load() != 0 {
		t.Errorf("listeners were reached: %d, %d", hits.Load(), accepted.n.Load())
	}
	t.Logf("security: S2 | sandbox alone, network off: hits on a listener | %d | 0", int32(hits.Load())+int32(accepted.n.Load()))
}

type listener struct {
	addr string
	n    atomic.Int32
}

// listen counts connections on every address of this machine.
func listen(t *testing.T) *listener {
	t.Helper()
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	got := &listener{addr: fmt.Sprintf("127.0.0.1:%d", l.Addr().(*net.TCPAddr).Port)}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			got.n.Add(1)
			c.Close()
		}
	}()
	return got
}

// Each line tries to write outside; afterwards all but the worktree is as it was. contract 61
func TestWritesStayInside(t *testing.T) {
	each(t, testWritesStayInside)
}

func testWritesStayInside(t *testing.T, w world) {
	s := w.open(t, "workspace")
	put(t, w.home+"/linked", "linked")
	if err := os.Symlink(w.home, w.work+"/out"); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, w.home, w.work)
	H := w.home
	for _, line := range []string{
		"echo x > " + H + "/new",
		"echo x > out/notes",
		"rm -rf out/notes",
		"ln " + H + "/linked hard && echo x > hard",
		"chmod 777 " + H + "/notes",
		"touch " + H + "/notes",
		"mv " + H + "/notes .",
		"mkdir " + H + "/.ssh/x",
		"echo x > " + H + "/.npmrc/../notes",
		"echo x > .git",
		"mv .git old",
		"rm -f .git",
		"mv ../t1 ../t2",
		"echo x > " + w.state + "/repos/r1/git/HEAD",
		"echo x > " + w.state + "/repos/r1/other",
		"echo x > /etc/colony-test",
		"echo x > /proc/1/root" + H + "/new",
		"echo x > /proc/self/cwd/../../../../../../../new",
		"echo x > /proc/self/root" + H + "/new",
	} {
		undone := w.isLocked() && strings.HasSuffix(line, " .git") || strings.HasPrefix(line, "mv .git") // made good afterwards
		if exit, out := run(t, s, w.sh(line)); exit.Code == 0 && !undone {
			t.Errorf("%s: succeeded\n%s", line, out)
		}
		if got, err := os.ReadFile(w.work + "/.git"); err != nil || !strings.HasPrefix(string(got), "gitdir: ") {
			t.Fatalf("%s: .git is %q, %v", line, got, err)
		}
		if snapshot(t, w.home, w.work) != before {
			t.Fatalf("%s: had an effect", line)
		}
	}
	if exit, out := run(t, s, w.sh("echo x > new && mkdir d && mv new d && echo y > $TMPDIR/y && echo z > ~/z && cat d/new $TMPDIR/y ~/z")); out != "x\ny\nz\n" {
		t.Errorf("inside: %v %q", exit, out)
	}
	if got, err := os.ReadFile(w.work + "/d/new"); err != nil || string(got) != "x\n" {
		t.Errorf("worktree: %q, %v", got, err)
	}
}

// No line gives a job its powers back. Each prints what it got; the canary is the home, writable.
func TestNoWayBackToPower(t *testing.T) {
	each(t, testNoWayBackToPower)
}

func testNoWayBackToPower(t *testing.T, w world) {
	s := w.open(t, "workspace")
	before := snapshot(t, w.home, w.work)
	canary := "echo x > " + w.home + "/canary"
	for _, line := range []string{
		"mount -o remount,rw /; " + canary,
		"mount -o remount,rw,bind " + w.home + "; " + canary,
		"umount " + w.home + "; umount -l /tmp; " + canary,
		"unshare -Urm sh -c 'mount -o remount,rw,bind " + w.home + "; mount -o remount,rw /; umount -l " + w.home + "; " + canary + "'",
		"unshare -Urmpf --mount-proc sh -c '" + canary + "'",
		"unshare -U true; unshare -m true; unshare -n true",
		"nsenter -t 1 -m -p sh -c '" + canary + "'",
		"nsenter -t 1 -U --preserve-credentials sh -c '" + canary + "'",
		"chroot / sh -c '" + canary + "'",
		"mknod dev b 254 0",
		"mkdir m; mount -t tmpfs none m",
		"cat /proc/1/environ || cat /proc/1/mem || cat /proc/1/maps || readlink /proc/1/fd/3 || head -c 1 /proc/1/fd/3 || echo x > /proc/1/fd/4",
		same("/proc/sys/kernel/sysrq"), same("/proc/sys/kernel/randomize_va_space"), same("/proc/sys/kernel/core_pattern"),
		same("/proc/sys/vm/swappiness"), same("/proc/sys/kernel/pid_max"), same("/proc/sys/net/ipv4/ip_forward"),
		"echo 100 > /proc/sys/user/max_user_namespaces",
		"echo h > /proc/sysrq-trigger",
		same("/sys/kernel/mm/ksm/run"), same("/sys/block/vda/queue/read_ahead_kb"),
		"echo x > /proc/self/attr/current",
		"echo 0 > /proc/self/oom_score_adj",
		"mkdir /sys/fs/cgroup/pids/colony-test || mkdir /sys/fs/cgroup/colony-test",
		"for d in sda vda mem kmsg fuse kvm; do head -c 1 /dev/$d && exit; done; exit 1",
		"cat /etc/shadow | grep .",
		"su -c true nobody",
		"grep -E '^(Cap.*:.*[1-9a-f]|NoNewPrivs:.0)' /proc/self/status || unshare -U grep -E '^Cap.*:.*[1-9a-f]' /proc/self/status",
		"ip link set lo down || ifconfig lo down",
		"hostname evil",
	} {
		exit, out := run(t, s, w.sh(line))
		if exit.Code == 0 {
			t.Errorf("%s: succeeded\n%s", line, out)
		}
		if snapshot(t, w.home, w.work) != before {
			t.Fatalf("%s: had an effect\n%s", line, out)
		}
	}
}

// same writes a setting of the kernel its own value, so that a hole does no harm.
func same(setting string) string {
	return "v=$(cat " + setting + ") && echo \"$v\" > " + setting
}

func TestSecretsAreInvisible(t *testing.T) {
	each(t, testSecretsAreInvisible)
}

func testSecretsAreInvisible(t *testing.T, w world) {
	put(t, w.home+"/dotfiles/aws/credentials", "SECRET")
	if err := os.Symlink("dotfiles/aws", w.home+"/.aws"); err != nil {
		t.Fatal(err)
	}
	put(t, w.home+"/own/hidden", "SECRET")
	put(t, w.home+"/.config/gh/hosts.yml", "shown")
	p := w.parts("workspace")
	p.Hide = []string{w.home + "/own"}
	p.Read = []string{w.home + "/.config/gh"}
	s, err := sandbox.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	_, out := run(t, s, w.sh("grep -rs SECRET "+w.home+" /tmp; cat "+w.home+"/.npmrc "+w.home+"/.aws/credentials; ls "+w.home+"/.ssh; ls -R "+w.state))
	if strings.Contains(out, "SECRET") || strings.Contains(out, "id_ed25519") || strings.Contains(out, "events.db") {
		t.Errorf("a secret is visible:\n%s", out)
	}
	exit, out := run(t, s, w.sh("cat "+w.home+"/.config/gh/hosts.yml "+w.home+"/notes "+w.state+"/repos/r1/git/HEAD"))
	if exit.Code != 0 || out != "shownnotesref" {
		t.Errorf("what a job may see is not visible: %v %q", exit, out)
	}
}
