package guard_test

import (
	"os"
	"path/filepath"
	"testing"

	"colony/guard"
)

// GT04, GT05, GT07: git that is told of a program, that writes where it is told, or that is run where a directory may hold settings
// of its own, is not allowed by itself; each line is seen to have its effect in a real bash.
func TestGitThatRunsOrWrites(t *testing.T) {
	env, p := newEnv(t), newProof(t)
	for id, lines := range map[string][]string{
		"GT04": {
			`git -c core.sshCommand="touch PWNED; false" ls-remote ssh://x/y`, `git -c alias.x='!touch PWNED' x`, `git -c diff.external='touch PWNED; true' diff`,
			`GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=diff.external GIT_CONFIG_VALUE_0='touch PWNED; true' git diff`, `E='touch PWNED; true' git --config-env=diff.external=E diff`,
		},
		"GT05": {"git diff --output=PWNED HEAD", "git log --output=PWNED", "git show --output=PWNED"},
		"GT07": {"cd sub && git status", "git -C sub status", "(cd sub; git status)", "cd sub\ngit diff"},
	} {
		for _, text := range lines {
			for _, mode := range []guard.Mode{guard.ModePlan, guard.ModeAsk, guard.ModeAutoEdit} {
				if d := policy(t, guard.Parts{Mode: mode}).Decide(env, call("sh", line(env, text))); d.Decision == guard.Allow {
					t.Errorf("%s in mode %s: %q runs without a question: %+v", id, mode, text, d)
				}
			}
			if got := p.run(t, []string{text}); got != text {
				t.Errorf("%s: %q has no effect: the test shows nothing", id, text)
			}
			if err := os.Remove(filepath.Join(p.env.Root, "PWNED")); err != nil {
				t.Error(err)
			}
		}
	}
}
