//go:build !linux

package repo

import (
	"errors"
	"os"
	"syscall"
)

func changeTime(s *syscall.Stat_t) int64 { return s.Ctimespec.Nano() }

func reflink(*os.File, *os.File) error { return errors.ErrUnsupported }
