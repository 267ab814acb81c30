package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kind is what a place is to a job. Of two kinds at one path the later one holds.
type kind int

const (
	memory  kind = iota // an empty directory of its own, writable, gone with the job
	process             // the job's own /proc
	write
	read
	device
	hide // an empty directory, or for a file nothing to read
)

// A place is one path of the view where it differs from "read-only, as it is outside". From is what is seen there.
type place struct {
	At   string
	From string
	Kind kind
	// What From was when the order was given, where another program makes the view, and the file under which that one
	// finds it.
	Dev, Ino uint64
	Dir      bool
	FD       int
}

// view lists the places of a job, outer ones first: a later place lies over an earlier one.
func (s *Sandbox) view(j Job) []place {
	places := []place{
		{At: "/proc", Kind: process}, {At: "/dev", From: "/dev", Kind: hide}, {At: "/dev/shm", Kind: memory},
		{At: "/tmp", Kind: memory},
	}
	if straight("/var/tmp") == nil {
		places = append(places, place{At: "/var/tmp", Kind: memory})
	}
	for _, name := range [...]string{"null", "zero", "full", "random", "urandom", "tty"} {
		places = append(places, place{At: "/dev/" + name, From: "/dev/" + name, Kind: device})
	}
	if straight(s.home) == nil && s.home != "/" {
		places = append(places, place{At: s.home, From: s.home, Kind: read})
	}
	if j.Scratch != "" {
		places = append(places, place{At: "/tmp", From: j.Scratch, Kind: write})
	}
	writable := write
	if s.level == ReadOnly {
		writable = read
	}
	places = append(places, same(writable, j.Writable)...)
	places = append(places, same(read, j.Readable)...)
	places = append(places, same(read, s.read)...)
	for _, b := range j.Bound {
		places = append(places, place{At: b.At, From: b.From, Kind: read})
	}
	places = append(places, same(hide, s.hidden())...)
	slices.SortStableFunc(places, func(a, b place) int {
		if d := strings.Count(a.At, "/") - strings.Count(b.At, "/"); d != 0 {
			return d
		}
		if d := strings.Compare(a.At, b.At); d != 0 {
			return d
		}
		return int(a.Kind - b.Kind)
	})
	return places
}

func same(k kind, paths []string) []place {
	places := make([]place, 0, len(paths))
	for _, path := range paths {
		places = append(places, place{At: path, From: path, Kind: k})
	}
	return places
}

// hidden lists what is there to hide now, links followed, without what the user made visible by name.
func (s *Sandbox) hidden() []string {
	var found []string
	for _, names := range [][]string{s.secrets, sockets()} {
		for _, name := range names {
			if !there(name) {
				continue // most are not
			}
			real := name
			if !direct(name) {
				var err error
				if real, err = filepath.EvalSymlinks(name); err != nil {
					continue
				}
			}
			if !slices.Contains(s.read, real) {
				found = append(found, real)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// secretNames are all paths that may have to be hidden, there or not.
func (s *Sandbox) secretNames() []string {
	names := slices.Concat(s.hide, systemSecrets[:])
	for _, home := range s.homes {
		for _, name := range homeSecrets {
			names = append(names, filepath.Join(home, name))
		}
	}
	return names
}

// sockets lists the unix sockets that processes outside listen on. A read-only file system does not keep a job from
// connecting to one.
func sockets() []string {
	table, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	var paths []string
	for line := range strings.Lines(string(table)) {
		if at := strings.Index(line, " /"); at >= 0 {
			paths = append(paths, strings.TrimSuffix(line[at+1:], "\n"))
		}
	}
	return paths
}

// straight refuses a path of a job that is missing or leads through a link.
func straight(path string) error {
	if direct(path) {
		return nil
	}
	at, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sandbox: path %s does not exist", path)
	}
	if err != nil {
		return fmt.Errorf("sandbox: path %s: %w", path, err)
	}
	if at != path {
		return fmt.Errorf("sandbox: path %s leads through a link to %s; name that", path, at)
	}
	return nil
}
