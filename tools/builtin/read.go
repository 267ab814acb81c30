package builtin

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"colony/tools"
)

//go:embed read.md
var readText string

// Bounds of what one read takes in and shows.
const (
	maxRead      = 64 << 20 // bytes of a file
	maxPageLines = 2000
	maxPageBytes = 30 << 10
	maxEntries   = 1000 // of a directory
)

// read shows a file or lists a directory.
type read struct{ tools.Base }

type readArgs struct {
	Path string `json:"path"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

func (read) Spec() tools.Spec {
	return tools.Spec{Name: "read", Description: text(readText), ReadOnly: true, Noncredential: true, Params: json.RawMessage(`{
"type":"object","additionalProperties":false,"required":["path"],"properties":{
"path":{"type":"string","minLength":1,"description":"file or directory"},
"from":{"type":"integer","minimum":1,"description":"first line, counted from 1"},
"to":{"type":"integer","minimum":1,"description":"last line, included"}}}`)}
}

// IsConcurrencySafe is true: a read changes nothing.
func (read) IsConcurrencySafe(json.RawMessage) bool { return true }

// Effects are one read, wherever the path leads now.
func (read) Effects(env *tools.Env, args json.RawMessage) (tools.Effects, error) {
	a, err := decodeRead(args)
	if err != nil {
		return tools.Effects{}, err
	}
	return reads(env, a.Path)
}

func reads(env *tools.Env, path string) (tools.Effects, error) {
	p, err := locate(env, path)
	if err != nil {
		return tools.Effects{}, err
	}
	return tools.Effects{Known: true, ReadOnly: true, Reads: []string{p.abs}, Subjects: []string{p.subject()}}, nil
}

func decodeRead(args json.RawMessage) (readArgs, error) {
	a, err := decode[readArgs](args)
	switch {
	case err != nil:
		return a, err
	case a.From < 0:
		return a, badArg("from", "is before the first line", "lines count from 1")
	case a.To < 0 || a.To > 0 && a.To < a.From:
		return a, badArg("to", "is before from", "")
	}
	return a, nil
}

func (read) Run(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	a, err := decodeRead(args)
	if err != nil {
		return invalid(err)
	}
	if data, ok := spilled(env, a.Path); ok {
		return readLines(ctx, env, a, place{abs: a.Path}, bytes.NewReader(data), int64(len(data)))
	}
	p, err := locate(env, a.Path)
	if err != nil {
		return invalid(err)
	}
	if !p.inside {
		return outside(env, a.Path, p), nil
	}
	f, info, err := openPlace(env, p)
	if err != nil {
		return broken("read", a.Path, err), nil
	}
	defer f.Close()
	switch {
	case info.IsDir():
		return list(f, a.Path)
	case !info.Mode().IsRegular():
		return broken("read", a.Path, errNotRegular), nil
	case info.Size() > maxRead:
		return broken("read", a.Path, fmt.Errorf("%d bytes: %w", info.Size(), errTooBig)), nil
	}
	return readFile(ctx, env, a, p, f, info)
}

// spilled is the full text of an earlier result, which lies beside the log and not in the worktree.
func spilled(env *tools.Env, path string) ([]byte, bool) {
	sha := filepath.Base(path)
	if !filepath.IsAbs(path) || len(sha) != 64 || env.Blobs == nil || env.Blobs.Path(tools.BlobRef{SHA256: sha}) != path {
		return nil, false
	}
	data, err := env.Blobs.Get(sha)
	return data, err == nil
}

func readFile(ctx context.Context, env *tools.Env, a readArgs, p place, f *os.File, info os.FileInfo) (tools.Result, error) {
	head := make([]byte, min(info.Size(), 8<<10))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return broken("read", a.Path, err), nil
	}
	head = head[:n]
	media := pictured(head)
	if media != "" && info.Size() <= maxImage {
		res, err := showImage(env, a.Path, p, media, f, info)
		if err != nil || res.Text != "" {
			return res, err
		}
	}
	if binary(head) {
		return showBinary(a.Path, p, head, media, f)
	}
	return readLines(ctx, env, a, p, f, info.Size())
}

// showImage shows an image, or says why it cannot be. It says nothing of a text that only begins like one.
func showImage(env *tools.Env, path string, p place, media string, f *os.File, info os.FileInfo) (tools.Result, error) {
	data, err := load(f, info, maxImage)
	if err != nil {
		return broken("read", path, err), nil
	}
	seen := []tools.Seen{{Path: p.abs, Hash: hashOf(data), From: 1}}
	switch why := unfit(media, data); {
	case why == "":
	case !binary(data) && utf8.Valid(data):
		_, err := f.Seek(0, io.SeekStart)
		return tools.Result{}, err
	default:
		return tools.Result{Text: fmt.Sprintf("%s is an image (%s) that %s", path, media, why), Seen: seen}, nil
	}
	ref, err := env.Blobs.Put(media, data)
	if err != nil {
		return tools.Result{}, fmt.Errorf("keep image %s: %w", path, err)
	}
	return tools.Result{
		Text:   fmt.Sprintf("%s is an image (%s, %d bytes)", path, media, len(data)),
		Images: []tools.BlobRef{ref},
		Seen:   seen,
	}, nil
}

func showBinary(path string, p place, head []byte, media string, f *os.File) (tools.Result, error) {
	b := newPage(1, 1, 0)
	if err := b.scan(context.Background(), bufio.NewReader(f)); err != nil {
		return broken("read", path, err), nil
	}
	what := "is a binary file"
	switch {
	case media != "":
		what = fmt.Sprintf("is an image (%s) of more than %d MiB: make it smaller with sh", media, maxImage>>20)
	case utf16(head):
		what = "is UTF-16 text, which is not shown: convert it with sh"
	}
	return tools.Result{
		Text: fmt.Sprintf("%s %s (%d bytes)", path, what, b.bytes),
		Seen: []tools.Seen{{Path: p.abs, Hash: b.sum(), From: 1}},
	}, nil
}

func readLines(ctx context.Context, env *tools.Env, a readArgs, p place, from io.Reader, size int64) (tools.Result, error) {
	b := newPage(a.From, a.To, size)
	if err := b.scan(ctx, bufio.NewReaderSize(from, int(min(max(size+1, 4<<10), 64<<10)))); err != nil {
		if ctx.Err() != nil {
			return tools.Refuse(tools.Cancelled, "read "+a.Path+": cancelled"), nil
		}
		return broken("read", a.Path, err), nil
	}
	hash := b.sum()
	switch {
	case b.total == 0:
		return tools.Result{Text: a.Path + " is empty", Seen: []tools.Seen{{Path: p.abs, Hash: hash, From: 1}}}, nil
	case b.from > b.total:
		return tools.Refuse(tools.Validation, fmt.Sprintf("read %s: from is %d, but the file has %s",
			a.Path, b.from, plural(b.total, "line", "lines"))), nil
	}
	res := tools.Result{Seen: []tools.Seen{{Path: p.abs, Hash: hash, From: b.from, To: b.last}}}
	if env.Files.Repeats(p.abs, hash, b.from, b.last) {
		res.Text = fmt.Sprintf("%s: lines %d to %d are unchanged since you read them", a.Path, b.from, b.last)
	} else {
		res.Text = b.text()
	}
	return res, nil
}

func list(dir *os.File, path string) (tools.Result, error) {
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return broken("read", path, err), nil
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var out strings.Builder
	fmt.Fprintf(&out, "%s is a directory with %s", path, plural(len(entries), "entry", "entries"))
	for _, e := range entries[:min(len(entries), maxEntries)] {
		out.WriteString("\n" + spelt(e.Name()) + suffix(e))
	}
	if len(entries) > maxEntries {
		fmt.Fprintf(&out, "\n… %d more: use find with a pattern", len(entries)-maxEntries)
	}
	return tools.Result{Text: out.String()}, nil
}

func suffix(e os.DirEntry) string {
	switch {
	case e.IsDir():
		return "/"
	case e.Type()&os.ModeSymlink != 0:
		return "@"
	case !e.Type().IsRegular():
		return " (special)"
	}
	return ""
}
