package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"colony/strict"
	"colony/tools"
	"colony/view"
)

// Own is a tool that a person brings: a command of bash, described in a file. It runs as a line of sh does, at the top of the
// worktree.
type Own struct {
	tools.Base
	Name, Command string
	Replace       bool // it may take the place of a built-in tool
	about         string
	params        json.RawMessage
	limit         time.Duration
}

type ownFile struct {
	Name        string           `yaml:"name" strict:"required"`
	Description string           `yaml:"description" strict:"required"`
	Parameters  any              `yaml:"parameters"`
	Command     string           `yaml:"command" strict:"required"`
	Timeout     *strict.Duration `yaml:"timeout" strict:"positive"`
	Replace     bool             `yaml:"replace"`
}

var (
	ownName   = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	paramName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
)

// ParseOwn reads a tool from its file, whose name without its ending is the tool's. limit is how long a call may take where the
// file does not say.
func ParseOwn(source, named string, data []byte, limit time.Duration) (Own, strict.Faults) {
	doc, faults := strict.Parse(source, data)
	if doc == nil {
		return Own{}, faults
	}
	var f ownFile
	faults = append(faults, doc.Decode(&f)...)
	t := Own{Name: f.Name, Command: f.Command, Replace: f.Replace, about: strings.TrimSpace(f.Description), limit: limit}
	switch {
	case f.Name == "":
	case !ownName.MatchString(f.Name):
		faults = append(faults, doc.Fault("name", "a tool's name is a-z, 0-9, dash and underscore, at most 64, and begins with a letter"))
	case f.Name != named:
		faults = append(faults, doc.Fault("name", fmt.Sprintf("the tool is named %s, and its file %s.yaml: give them one name", f.Name, named)))
	}
	if f.Timeout != nil {
		if t.limit = time.Duration(*f.Timeout); t.limit > maxShTimeout {
			faults = append(faults, doc.Fault("timeout", fmt.Sprintf("a call may take %s at most", maxShTimeout)))
		}
	}
	if len(f.Command) > maxCommand {
		faults = append(faults, doc.Fault("command", "the command is too long: put it in a script, and run that"))
	}
	var wrong string
	if t.params, wrong = ownParams(f.Parameters); wrong != "" {
		faults = append(faults, doc.Fault("parameters", wrong))
	}
	return t, faults.Sorted()
}

// ownParams is the schema of the arguments as it is advertised: closed, and an object.
func ownParams(given any) (json.RawMessage, string) {
	schema, ok := given.(map[string]any)
	if given == nil || given == "" {
		schema, ok = map[string]any{}, true
	}
	if !ok {
		return nil, "the parameters are a JSON Schema of an object: type, properties, required"
	}
	if kind, has := schema["type"]; has && kind != "object" {
		return nil, "the parameters' type is object"
	}
	schema["type"] = "object"
	if _, has := schema["properties"]; !has {
		schema["properties"] = map[string]any{}
	}
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return nil, "properties names each argument with its schema"
	}
	for name := range properties {
		if !paramName.MatchString(name) {
			return nil, fmt.Sprintf("the argument %q cannot be a variable: use letters, digits and underscores", name)
		}
	}
	if _, has := schema["additionalProperties"]; !has {
		schema["additionalProperties"] = false
	}
	data, err := json.Marshal(schema)
	if err != nil {
		return nil, err.Error()
	}
	return data, ""
}

// Spec is as the file says.
func (t Own) Spec() tools.Spec {
	return tools.Spec{Name: t.Name, Description: t.about, Params: t.params}
}

// Effects are what the command's line does, as far as it can be read. What it does with the arguments is not known.
func (t Own) Effects(env *tools.Env, _ json.RawMessage) (tools.Effects, error) {
	out := lineEffects(env, t.Command)
	out.Subjects = []string{t.Command}
	return out, nil
}

// Run runs the command. It finds the arguments as JSON in ARGS, and each as ARG_NAME.
func (t Own) Run(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	vars, err := ownVariables(args)
	if err != nil {
		return invalid(err)
	}
	out, errs := newCapture(env, ""), newCapture(env, "")
	limited, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	exit, err := env.Exec(limited, tools.Process{Argv: plain(t.Command), Dir: env.Root, Env: append(quiet(), vars...), Stdout: out, Stderr: errs})
	if err != nil && limited.Err() == nil {
		return tools.Result{}, fmt.Errorf("run %s: %w", t.Name, err)
	}
	r := report{dir: env.Cwd()}
	r.streams(env, out, errs, "")
	res := tools.Result{Exit: &exit.Code, Duration: exit.Duration,
		Views: view.List{view.Exit{Command: t.Name, Code: exit.Code, Ms: exit.Duration.Milliseconds()}}}
	res.Fault = r.ended(ctx, limited, err, exit, t.limit)
	res.Text = r.text()
	return res, nil
}

// ownVariables are the arguments as the command finds them.
func ownVariables(args json.RawMessage) ([]string, error) {
	given, err := decode[map[string]json.RawMessage](args)
	if err != nil {
		return nil, err
	}
	vars := []string{"ARGS=" + string(args)}
	for name, value := range given {
		text := string(value)
		if strings.HasPrefix(text, `"`) {
			if err := json.Unmarshal(value, &text); err != nil {
				return nil, badArg(name, err.Error(), "")
			}
		}
		vars = append(vars, "ARG_"+name+"="+text)
	}
	slices.Sort(vars)
	if n := len(strings.Join(vars, "\n")); n > maxCommand {
		return nil, badArg("", fmt.Sprintf("the arguments are %d bytes, at most %d", n, maxCommand), "put what is long in a file")
	}
	return vars, nil
}
