package shell_test

import (
	"testing"

	"colony/guard/shell"
)

// BenchmarkParse reads a line of three commands, all of them read-only.
func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if !shell.Parse("cd sub && grep -rn 'func main' --include=*.go . | head -20").ReadOnly() {
			b.Fatal("not read-only")
		}
	}
}
