package tools

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Prepare looks a call up and reads its arguments strictly. What comes back is ready to run, with arguments
// coerced and canonical, or refused with the reason; nothing was touched. A call of a tool that waits to be
// loaded is refused with its schema, and loads it. Digest is set in every case.
func (r *Registry) Prepare(c Call) Prepared {
	p := Prepared{Call: c, Digest: digest(c.Name, c.Args)}
	e, ok := r.visible(c.Name)
	if !ok {
		return p.refuse(Refuse(Validation, r.unknownTool(c.Name)))
	}
	if r.waits(e) {
		shown := opened([]Spec{e.spec})
		shown.Fault = Validation
		shown.Text = fmt.Sprintf("%s was not loaded, so this call did not run. It is loaded now: call it again.\n\n%s", c.Name, shown.Text)
		return p.refuse(shown)
	}
	p.Tool = e.tool
	args, coerced, err := e.read(c.Args)
	if wrong := new(ArgError); errors.As(err, &wrong) {
		return p.refuse(Refuse(Validation, fmt.Sprintf("arguments of %s: %v", c.Name, err)))
	}
	if err != nil {
		return p.refuse(Refuse(Internal, fmt.Sprintf("the schema of %s is broken, so it cannot be called: %v", c.Name, err)))
	}
	p.Call.Args, p.Coerced, p.Digest = args, coerced, digest(c.Name, args)
	return p
}

func (p Prepared) refuse(r Result) Prepared {
	p.Refused = &r
	return p
}

// read is the arguments as they run. An error is an *ArgError or joins some; any other is the schema's.
func (e *entry) read(raw json.RawMessage) (args json.RawMessage, coerced []string, err error) {
	var v any = map[string]any{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if v, err = parse(raw); err != nil {
			return nil, nil, err
		}
	}
	s := shaper{}
	v = s.shape("", v, e.schema())
	schema, err := e.compiled()
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(append(s.wrong, violations(schema.Validate(v))...)...); err != nil {
		return nil, nil, oneLine{err}
	}
	args, err = canonical(v)
	return args, s.coerced, err
}

// oneLine shows joined errors in one line.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }

func (e oneLine) Unwrap() error { return e.error }

// canonical is the value with sorted keys, no blanks and nothing escaped that need not be.
func canonical(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write arguments: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func digest(name string, args []byte) string {
	sum := sha256.Sum256(append([]byte(name+"\n"), args...))
	return hex.EncodeToString(sum[:])
}
