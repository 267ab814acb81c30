package sandbox

import (
	"fmt"
	"os"
	"strings"
)

// RefusedError means that this machine cannot hold the level. Next is the one command that mends it here.
type RefusedError struct {
	Level, Why, Next string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("sandbox level %q cannot be held: %s; %s", e.Level, e.Why, e.Next)
}

// A cure is a kernel setting that forbids namespaces, and the command that allows them.
var cures = [...]struct{ file, bad, next string }{
	{"/proc/sys/user/max_user_namespaces", "0", "run: sudo sysctl -w user.max_user_namespaces=15000"},
	{"/proc/sys/user/max_net_namespaces", "0", "run: sudo sysctl -w user.max_net_namespaces=15000"},
	{"/proc/sys/user/max_pid_namespaces", "0", "run: sudo sysctl -w user.max_pid_namespaces=15000"},
	{"/proc/sys/user/max_mnt_namespaces", "0", "run: sudo sysctl -w user.max_mnt_namespaces=15000"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "run: sudo sysctl -w kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
}

func refused(level, why string) error {
	e := &RefusedError{Level: level, Why: why, Next: "or choose --sandbox off yourself"}
	for _, c := range cures {
		if text, err := os.ReadFile(c.file); err == nil && strings.TrimSpace(string(text)) == c.bad {
			e.Next = c.next
			return e
		}
	}
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			e.Next = "start the container with: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"
			return e
		}
	}
	return e
}
