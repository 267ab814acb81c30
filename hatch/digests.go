package hatch

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"colony/guard/trust"
)

// trustVariable holds digests that its user trusts wherever they are met, with blanks or commas between them.
const trustVariable = "COLONY_TRUST"

func digestOf(files []ProjectFile) trust.Digest {
	var read []trust.File
	for _, f := range files {
		if len(f.parts) == 0 {
			read = append(read, trust.File{Name: f.Name, Data: f.Data})
		}
		for _, part := range f.parts {
			read = append(read, trust.File{Name: f.Name + "/" + part.Name, Data: part.Data})
		}
	}
	return trust.DigestOf(read...)
}

// given are the digests that are trusted beside the user's own grants: typed ones, those of COLONY_TRUST and the
// organisation's. Each is of one file, or of all project files together. A typed one that fits nothing was of other content.
func (h *House) given(files []ProjectFile, environ, typed []string) ([]trust.Digest, error) {
	var all []trust.Digest
	for _, text := range typed {
		d, err := trust.ParseDigest(text)
		if err != nil {
			return nil, badDigest("--trust", err)
		}
		if !fits(d, files) {
			return nil, &Problem{
				Exit: 5, Code: "untrusted", Message: fmt.Sprintf("--trust %s: nothing that this repository brings has this digest now", d),
				Next: "look at what changed, then colony trust --print, which shows what would run and its digest",
			}
		}
		all = append(all, d)
	}
	for _, entry := range environ {
		text, ours := strings.CutPrefix(entry, trustVariable+"=")
		if !ours {
			continue
		}
		more, err := trust.ParseDigests(text)
		if err != nil {
			return nil, badDigest(trustVariable, err)
		}
		all = append(all, more...)
	}
	more, err := trust.ReadDigests(filepath.Join(h.Organisation, "trust"))
	if err != nil {
		return nil, &Problem{Exit: 2, Code: "bad_file", Message: "the organisation's list of trusted digests cannot be used: " + err.Error(), Next: "mend the file, or remove it"}
	}
	return append(all, more...), nil
}

func fits(d trust.Digest, files []ProjectFile) bool {
	return len(files) > 0 && d == digestOf(files) || slices.ContainsFunc(files, func(f ProjectFile) bool { return d == digestOf([]ProjectFile{f}) })
}

func badDigest(where string, err error) *Problem {
	return &Problem{Exit: 2, Code: "bad_digest", Message: where + ": " + err.Error(), Next: "colony trust --print shows it"}
}

// Digest is the digest of project files as they were read: who trusts it trusts exactly these.
func (h *House) Digest(files []ProjectFile) string { return string(digestOf(files)) }
