//go:build !linux && !darwin

package sandbox

import (
	"context"
	"errors"
	"os"
)

var errPlatform = errors.New("not built yet on this platform")

// Helper returns at once: no helper is built for this platform.
func Helper() {}

func (s *Sandbox) confined(context.Context, Job) (Exit, error) { return Exit{}, errPlatform }

func (s *Sandbox) plain(context.Context, Job) (Exit, error) { return Exit{}, errPlatform }

var mechanisms = [...]string{}

func (s *Sandbox) ready() error { return errPlatform }

func direct(string) bool { return false }

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func machineMemory() int64 { return 0 }

type helper struct{}

// Close does nothing: no helper is kept on this platform.
func (s *Sandbox) Close() {}
