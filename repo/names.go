package repo

import (
	"fmt"
	"strings"
)

var (
	nameForm = lazily(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	idForm   = lazily(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// checkName refuses what cannot be one component of a ref and of a path alike.
func checkName(name string) error {
	if !nameForm().MatchString(name) || strings.Contains(name, "..") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock") {
		return &NameError{Name: name}
	}
	return nil
}

func checkID(ids ...string) error {
	for _, id := range ids {
		if !idForm().MatchString(id) {
			return fmt.Errorf("%q is no object id", id)
		}
	}
	return nil
}

// checkKept refuses a ref that is not one of the run's kept ones.
func (r *Repo) checkKept(ref string) error {
	task, ok := strings.CutPrefix(ref, r.KeptRef(""))
	if !ok {
		return &NameError{Name: ref}
	}
	return checkName(task)
}

// fields splits what git wrote with -z.
func fields(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}
