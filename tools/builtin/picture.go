package builtin

import (
	"bytes"
	"fmt"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"slices"
)

// Bounds of an image that is shown: providers refuse larger ones, and with them the whole request.
const (
	maxImage = 5 << 20 // bytes
	maxSide  = 8000    // pixels
)

var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// pictured is the kind of image that a content begins like, if it is one that models are shown.
func pictured(head []byte) string {
	if media := http.DetectContentType(head); slices.Contains(pictures, media) {
		return media
	}
	return ""
}

// unfit says why an image of a kind cannot be shown. It looks at its head and its end, and does not decode what lies between.
func unfit(media string, data []byte) string {
	width, height, end := 0, 0, []byte(nil)
	switch media {
	case "image/png":
		if c, err := png.DecodeConfig(bytes.NewReader(data)); err == nil {
			width, height, end = c.Width, c.Height, []byte("IEND\xaeB`\x82")
		}
	case "image/jpeg":
		if c, err := jpeg.DecodeConfig(bytes.NewReader(data)); err == nil {
			width, height, end = c.Width, c.Height, []byte("\xff\xd9")
		}
	case "image/gif":
		if c, err := gif.DecodeConfig(bytes.NewReader(data)); err == nil {
			width, height, end = c.Width, c.Height, []byte(";")
		}
	case "image/webp":
		width, height = webp(data)
	}
	switch {
	case width <= 0 || height <= 0 || !bytes.Contains(data, end):
		return "is broken or cut off"
	case width > maxSide || height > maxSide:
		return fmt.Sprintf("is %d by %d pixels, more than %d: make it smaller with sh", width, height, maxSide)
	}
	return ""
}

// webp is the size of a WebP image; 0 where it is not whole.
func webp(data []byte) (width, height int) {
	little := func(at, bytes int) (n int) {
		for i := range bytes {
			n |= int(data[at+i]) << (8 * i)
		}
		return n
	}
	if len(data) < 30 || little(4, 4)+8 > len(data) {
		return 0, 0
	}
	switch string(data[12:16]) {
	case "VP8 ":
		return little(26, 2) & 0x3fff, little(28, 2) & 0x3fff
	case "VP8L":
		return little(21, 4)&0x3fff + 1, little(21, 4)>>14&0x3fff + 1
	case "VP8X":
		return little(24, 3) + 1, little(27, 3) + 1
	}
	return 0, 0
}
