package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// digestPrefix names the hash, so that another kind can be told apart.
const digestPrefix = "sha256:"

// Digest is a content that is trusted wherever it lies, as a person writes it: sha256:HEX.
type Digest string

// DigestOf is the digest of files as they were read; their order does not matter.
func DigestOf(files ...File) Digest { return Digest(digestPrefix + Hash(files...)) }

// ParseDigest reads one digest.
func ParseDigest(text string) (Digest, error) {
	hex, ok := strings.CutPrefix(text, digestPrefix)
	if !ok || !sum.MatchString(hex) {
		return "", fmt.Errorf("%q is no digest: want sha256: and 64 digits or letters from a to f", text)
	}
	return Digest(text), nil
}

// ParseDigests reads digests with blanks or commas between them.
func ParseDigests(text string) ([]Digest, error) {
	var out []Digest
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\r\n,", c) }) {
		d, err := ParseDigest(word)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// ReadDigests reads a file of digests, one a line; what follows a digest, and lines that begin with #, are remarks. A file
// that is not there holds none. One that others than its owner may write is an error: it would be theirs to say what is
// trusted.
func ReadDigests(path string) ([]Digest, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 || info.Size() > sizeLimit {
		return nil, fmt.Errorf("%s is not a file that only its owner writes", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, sizeLimit))
	if err != nil {
		return nil, err
	}
	return digestLines(path, string(data))
}

func digestLines(path, text string) ([]Digest, error) {
	var out []Digest
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		d, err := ParseDigest(words[0])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		out = append(out, d)
	}
	return out, nil
}
