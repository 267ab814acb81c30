package configs_test

import (
	"testing"

	"colony/configs"
)

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		s, err := configs.Load(configs.Parts{Env: []string{"COLONY_RUN_ANTS=3"}})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Section("run", new(run)); err != nil {
			b.Fatal(err)
		}
	}
}
