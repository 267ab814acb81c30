package sandbox

import (
	"context"
	"errors"
)

var mechanisms = [...]string{Bubblewrap, Namespaces, Landlock}

const lockedName = "colony: sandbox locked"

// ready says why the mechanism cannot be tried here.
func (s *Sandbox) ready() error {
	switch s.mechanism {
	case Bubblewrap:
		_, err := bubblewrap()
		return err
	case Landlock:
		return errors.New("tbd")
	}
	return nil
}

func (s *Sandbox) locked(ctx context.Context, j Job) (Exit, error) { return Exit{}, errors.New("tbd") }
func keepLocked()                                                  {}
