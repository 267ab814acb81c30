package builtin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"colony/tools"
	"colony/tools/toolstest"
)

func run(b *testing.B, env *tools.Env, name string, a args) tools.Result {
	res, err := tool(name).Run(b.Context(), env, raw(b, a))
	if err != nil || res.Fault != "" {
		b.Fatalf("%s: %q %s %v", name, res.Fault, res.Text, err)
	}
	return res
}

func put(b *testing.B, env *tools.Env, rel, content string) {
	path := filepath.Join(env.Root, rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	env := toolstest.NewEnv(b)
	put(b, env, "pkg/sub/a.go", strings.Repeat("\tif err != nil { return err } // line\n", 400))
	for b.Loop() {
		run(b, env, "read", args{"path": "pkg/sub/a.go"})
	}
}

// An edit of a file of 1 MiB, to the disk and back.
func BenchmarkEdit(b *testing.B) {
	env := toolstest.NewEnv(b)
	put(b, env, "f", strings.Repeat("0123456789abcde\n", 1<<15)+"here a there\n"+strings.Repeat("0123456789abcde\n", 1<<15))
	env.Files.Apply(run(b, env, "read", args{"path": "f", "from": 1<<15 + 1}).Seen...)
	env.Files.Apply(run(b, env, "edit", args{"path": "f", "old": "here a", "new": "here b"}).Seen...)
	for i := 0; b.Loop(); i++ {
		from, to := "b", "c"
		if i%2 == 1 {
			from, to = to, from
		}
		run(b, env, "edit", args{"path": "f", "old": "here " + from, "new": "here " + to})
	}
}

// A write of a file of 1 MiB that has no line in common with the one before.
func BenchmarkWrite(b *testing.B) {
	env := toolstest.NewEnv(b)
	var text [2]strings.Builder
	for i := range 1 << 16 {
		fmt.Fprintf(&text[0], "%d is this one\n", i)
		fmt.Fprintf(&text[1], "and that is %d\n", i)
	}
	for i := 0; b.Loop(); i++ {
		env.Files.Apply(run(b, env, "write", args{"path": "f", "content": text[i%2].String()}).Seen...)
	}
}

func BenchmarkSh(b *testing.B) {
	env := toolstest.NewEnv(b)
	b.Run("sh", func(b *testing.B) {
		for b.Loop() {
			run(b, env, "sh", args{"command": "true"})
		}
	})
	b.Run("bash alone", func(b *testing.B) {
		for b.Loop() {
			if _, err := env.Exec(b.Context(), tools.Process{Argv: []string{"bash", "-c", "true"}, Dir: env.Root}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	env := toolstest.NewEnv(b)
	for i := range 5000 {
		put(b, env, fmt.Sprintf("d%d/e%d/f%d.go", i%20, i%7, i), strings.Repeat("some words that are not it, 123\n", 40)+"needle\n")
	}
	put(b, env, ".gitignore", "*.o\n/out/\nnode_modules/\n")
	for name, a := range map[string]args{
		"names": {"pattern": "*.go"}, "no hit": {"content": "nowhere"}, "all hit": {"content": "needle"}, "class": {"content": `n[e]+dl\w`},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run(b, env, "find", a)
			}
		})
	}
}
