package plan

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Gate is a command that must pass. Dir is relative to the repository and stays inside it; a Timeout of 0 is
// the setting's. In YAML and JSON a gate may be the bare command.
type Gate struct {
	Run     string        `yaml:"run" json:"run"`
	Name    string        `yaml:"name" json:"name,omitempty"`
	Dir     string        `yaml:"dir" json:"dir,omitempty"`
	When    []string      `yaml:"when" strict:"later" json:"when,omitempty"`
	Timeout time.Duration `yaml:"timeout" strict:"positive" json:"timeout,omitempty"`
	Env     []string      `yaml:"env" strict:"later" json:"env,omitempty"`
	Net     string        `yaml:"net" strict:"later" json:"net,omitempty"`
	Retry   int           `yaml:"retry" json:"retry,omitempty"` // how often it runs again where it is red; green then is flaky, and passes
}

// mostRetries bounds how often a gate that is red runs again.
const mostRetries = 5

// Title is the gate's name, else its command.
func (g Gate) Title() string {
	if g.Name != "" {
		return g.Name
	}
	return g.Run
}

// UnmarshalText reads the bare command.
func (g *Gate) UnmarshalText(text []byte) error {
	*g = Gate{Run: string(text)}
	return nil
}

// Check names what is wrong with a gate that was read.
func (g *Gate) Check(fault func(path, text string)) {
	if strings.TrimSpace(g.Run) == "" {
		fault("", "a gate needs a command: write run")
	}
	if g.Dir != "" && !filepath.IsLocal(g.Dir) {
		fault("dir", "dir must be inside the repository and relative to it")
	}
	if g.Retry < 0 || g.Retry > mostRetries {
		fault("retry", fmt.Sprintf("retry is from 0 to %d", mostRetries))
	}
	if strings.Contains(g.Name, "\n") {
		fault("name", "name must be one line")
	}
}
