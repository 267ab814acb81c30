package builtin_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"

	"colony/tools"
)

// A lossy WebP image of one pixel.
const webpPixel = "RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x000\x01\x00\x9d\x01*\x01\x00\x01\x00\x02\x004%\xa4\x00\x03p\x00\xfe\xfb\x94\x00\x00"

func drawn(t *testing.T, width, height int, encode func(*bytes.Buffer, image.Image) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := encode(&out, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func asPNG(w *bytes.Buffer, m image.Image) error  { return png.Encode(w, m) }
func asJPEG(w *bytes.Buffer, m image.Image) error { return jpeg.Encode(w, m, nil) }
func asGIF(w *bytes.Buffer, m image.Image) error  { return gif.Encode(w, m, nil) }

// contract 21: an image that a provider would take is kept with the bytes that were read. What only begins like one, is cut off
// or too large is said to be: it would spoil every later request.
func TestImagesThatAreShown(t *testing.T) {
	small := drawn(t, 3, 2, asPNG)
	for name, c := range map[string]struct{ content, media, says string }{
		"png":         {small, "image/png", "is an image (image/png, "},
		"jpeg":        {drawn(t, 3, 2, asJPEG), "image/jpeg", "is an image (image/jpeg, "},
		"gif":         {drawn(t, 3, 2, asGIF), "image/gif", "is an image (image/gif, "},
		"webp":        {webpPixel, "image/webp", "is an image (image/webp, 44 bytes)"},
		"a text":      {"GIF89a is a format.\n", "", "1\tGIF89a is a format.\n"},
		"no png":      {"\x89PNG\r\n\x1a\n\x00\x00", "", "is an image (image/png) that is broken or cut off"},
		"a cut png":   {small[:len(small)-14], "", "broken or cut off"},
		"a cut jpeg":  {drawn(t, 3, 2, asJPEG)[:300], "", "broken or cut off"},
		"a cut webp":  {webpPixel[:40], "", "broken or cut off"},
		"a long png":  {drawn(t, 8001, 1, asPNG), "", "is 8001 by 1 pixels, more than 8000: make it smaller with sh"},
		"a large png": {small + strings.Repeat("\x00", 5<<20), "", "is an image (image/png) of more than 5 MiB: make it smaller with sh"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("f", c.content)
			res := w.ok("read", args{"path": "f"})
			if !strings.Contains(res.Text, c.says) || (c.media == "") != (len(res.Images) == 0) || len(res.Seen) != 1 {
				t.Fatalf("%q with %v, seen %v", res.Text, res.Images, res.Seen)
			}
			w.must(os.Remove(w.path("f")))
			if c.media == "" {
				return
			}
			if data, err := w.env.Blobs.Get(res.Images[0].SHA256); err != nil || string(data) != c.content || res.Images[0].Media != c.media {
				t.Errorf("%v: %d bytes were kept, %v", res.Images[0], len(data), err)
			}
		})
	}
}

// No name makes two lines of one, or drives a terminal.
func TestNamesStayInTheirLine(t *testing.T) {
	w := newWorld(t)
	w.put("d/a\nb.go: 5", "hit\n")
	w.put("d/\x1b[31mred\xff", "hit\n")
	const want = "\nd/\\x1b[31mred\\xff\nd/a\\nb.go: 5"
	for tool, a := range map[string]args{"read": {"path": "d"}, "find": {"pattern": "d/*"}} {
		if res := w.ok(tool, a); !strings.HasSuffix(strings.ReplaceAll(res.Text, "\nd/", "\n"), strings.ReplaceAll(want, "\nd/", "\n")) {
			t.Errorf("%s: %q", tool, res.Text)
		}
	}
	if res := w.ok("find", args{"content": "hit"}); !strings.Contains(res.Text, "\nd/\\x1b[31mred\\xff\n1:\thit\nd/a\\nb.go: 5\n1:\thit") {
		t.Errorf("%q", res.Text)
	}
}

// A pattern that can match nothing because it leads out of the path says so.
func TestAPatternThatLeadsOut(t *testing.T) {
	w := newWorld(t)
	w.put("sub/a.go", "")
	for _, pattern := range []string{"/etc/*", w.path("sub") + "/*.go", "../*", "sub/../*", ".."} {
		w.fault(tools.Validation, "pattern: leads out of path", "find", args{"pattern": pattern})
	}
	if got := w.found(args{"pattern": "./sub/*.go"}); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}
