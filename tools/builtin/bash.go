package builtin

import (
	"bytes"
	"os"

	"colony/tools"
)

// around is the script that a line runs in. It prints the working directory at the end, between marks that
// hold a secret of this call, to the output as it was at the beginning: also after exit, a redirection of the
// shell's own output, or a trap of the line's own on EXIT.
const around = `__colony_line=$1 __colony_mark=$2; set --; exec {__colony_fd}>&1
__colony_end() { builtin cd -P . 2>/dev/null; builtin printf '\0%s %s\0' "$__colony_mark" "$PWD" >&"$__colony_fd"; }
trap __colony_end EXIT
eval "$__colony_line"
__colony_line=$?
__colony_end
exit "$__colony_line"`

// carried is the command that runs a line and tells where it ended.
func carried(line, nonce string) []string {
	return []string{"bash", "--norc", "--noprofile", "-c", around, "bash", line, nonce}
}

// plain is the command that runs a line.
func plain(line string) []string {
	return []string{"bash", "--norc", "--noprofile", "-c", line}
}

// quiet is the environment in which no editor, pager or prompt can wait.
func quiet() []string {
	return []string{
		"BASH_ENV=", "ENV=", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat",
		"EDITOR=false", "VISUAL=false", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SUDO_ASKPASS=false",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes", "GIT_OPTIONAL_LOCKS=0",
		"DEBIAN_FRONTEND=noninteractive", "PIP_NO_INPUT=1",
	}
}

// startDir is where a line starts: the root when the working directory is gone, with a note.
func startDir(env *tools.Env) (dir, note string) {
	cwd := env.Cwd()
	if info, err := os.Lstat(cwd); err != nil || !info.IsDir() {
		return env.Root, "the working directory " + cwd + " is gone; this ran in " + env.Root
	}
	return cwd, ""
}

// endDir takes every mark with the call's secret out of the output. The last one says where the line ended.
func endDir(out []byte, nonce string) (rest []byte, cwd string) {
	begin := []byte("\x00" + nonce + " ")
	for {
		at := bytes.Index(out, begin)
		if at < 0 {
			return out, cwd
		}
		after := out[at+len(begin):]
		end := bytes.IndexByte(after, 0)
		if end < 0 {
			return out[:at], cwd
		}
		cwd = string(after[:end])
		out = append(out[:at:at], after[end+1:]...)
	}
}
