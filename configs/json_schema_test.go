package configs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"colony/configs"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The schema takes the default file, and refuses keys that are none as reading does, and lists and scalars in one another's
// place, which a section refuses when it is decoded.
func TestSchemaJudgesAsReadingDoes(t *testing.T) {
	data, err := configs.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("settings.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("settings.json")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile("default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		string(whole), "run: {ants: 3, gates: [make, {run: x, dir: y}]}", "providers: {mine: {base_url: x, wire: chat}}", "run: {antz: 3}", "runs: {}",
		"run: {gates: make}", "run: {ants: [3]}", "run: 3", "providers: {mine: {url: x}}", "permissions: {deny: [sh]}",
	} {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		plain, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
		if err != nil {
			t.Fatal(err)
		}
		s, faults := configs.Load(configs.Parts{User: file("/u", text)})
		if faults == nil {
			var of struct {
				Ants  string `yaml:"ants"`
				Gates []any  `yaml:"gates"`
			}
			faults = s.Section("run", &of)
		}
		if err := schema.Validate(value); (err == nil) != (faults == nil) {
			t.Errorf("%s\nthe schema says %v, reading %v", text, err, faults)
		}
	}
}

// Every key is in the schema with its comment.
func TestSchemaSaysWhatAKeyDoes(t *testing.T) {
	data, err := configs.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range configs.Keys() {
		comment, err := json.Marshal(k.Comment)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, comment) || !bytes.Contains(data, []byte(`"`+k.Name[strings.LastIndex(k.Name, ".")+1:]+`"`)) {
			t.Errorf("%s is not in the schema with its comment", k.Name)
		}
	}
}
