package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"colony/model"
	"colony/tools"
)

// SchemaOf is the schema of a tool's arguments.
func SchemaOf(spec tools.Spec) (json.RawMessage, error) {
	if schema := bytes.TrimSpace(spec.Params); len(schema) == 0 || schema[0] != '{' || !json.Valid(schema) {
		return nil, Refuse(fmt.Sprintf("tool %q: its schema is no JSON object", spec.Name))
	}
	return spec.Params, nil
}

// Refuse is a request that is wrong before it is sent.
func Refuse(text string) *model.Error { return &model.Error{Kind: model.BadRequest, Text: text} }

// Names maps tool names to names that the wire allows, and back. The wire name depends on the tool's
// name alone, so that it is the same in every request.
type Names struct{ tools map[string]string }

// NameTools makes the table of a request.
func NameTools(req model.Request) (*Names, error) {
	t := &Names{tools: map[string]string{}}
	for _, spec := range req.Tools {
		wire := t.Wire(spec.Name)
		if other, ok := t.tools[wire]; ok {
			return nil, Refuse(fmt.Sprintf("tools %q and %q cannot be told apart on the wire", other, spec.Name))
		}
		t.tools[wire] = spec.Name
	}
	return t, nil
}

// Tool is the tool that a wire name stands for; a name that no tool has comes back as it is.
func (t *Names) Tool(wire string) string {
	if name, ok := t.tools[wire]; ok {
		return name
	}
	return wire
}

const longestName = 64

// Wire is a name of letters, digits, _ and -, at most 64 of them: the tool's own where it is one, otherwise
// one made of it and of a part of its hash.
func (t *Names) Wire(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if clean == name && name != "" && len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return clean[:min(len(clean), longestName-9)] + "_" + hex.EncodeToString(sum[:4])
}
