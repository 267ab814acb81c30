package repo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// What gitformat-index(5) says of an entry of versions 2 and 3.
const (
	indexHead   = 12 // signature, version, number of entries
	indexStat   = 40 // before the object id
	flagAssumed = 1 << 15
	flagMore    = 1 << 14 // two bytes of flags more
	moreSkipped = 1 << 14
)

// index is what colony reads of a worktree's index by itself.
type index struct {
	entries int
	hides   bool // git is told not to look at files, or it has a form that git in a worktree of colony's does not write
}

// index reads the index of the worktree; one that is not there hides nothing.
func (t *Tree) index() (index, error) {
	data, err := os.ReadFile(filepath.Join(t.GitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return index{}, nil
	}
	if err != nil {
		return index{}, err
	}
	id := 20
	if t.repo.found.format == "sha256" {
		id = 32
	}
	return readIndex(data, id), nil
}

// readIndex reads an index whose object ids have so many bytes.
func readIndex(data []byte, id int) index {
	odd := index{hides: true}
	if len(data) < indexHead || string(data[:4]) != "DIRC" {
		return odd
	}
	version, n := binary.BigEndian.Uint32(data[4:]), int(binary.BigEndian.Uint32(data[8:]))
	if version != 2 && version != 3 {
		return odd
	}
	found, rest := index{entries: n}, data[indexHead:]
	for range n {
		at := indexStat + id // of the flags
		if len(rest) < at+4 {
			return odd
		}
		flags, name := binary.BigEndian.Uint16(rest[at:]), at+2
		if flags&flagMore != 0 {
			found.hides = found.hides || binary.BigEndian.Uint16(rest[name:])&moreSkipped != 0
			name += 2
		}
		found.hides = found.hides || flags&flagAssumed != 0
		long := bytes.IndexByte(rest[name:], 0)
		end := (name + max(long, 0) + 8) &^ 7 // at least one NUL, to a multiple of eight
		if long < 0 || len(rest) < end {
			return odd
		}
		rest = rest[end:]
	}
	return found
}
