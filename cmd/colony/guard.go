package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"colony/guard"
	"colony/hatch"
	"colony/strict"
	"colony/tools"
	"colony/view"

	"github.com/spf13/cobra"
)

// trialOptions are the flags of `colony guard test`.
type trialOptions struct{ card, mode, rules, sandbox, expect string }

// longestCall bounds a line of calls, in bytes.
const longestCall = 1 << 20

func (a *app) guardCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "guard", Short: "what ants may do", Args: exactArgs(0, 0), Example: "  colony guard test --help",
		Long: "See what would become of a call.\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.guardTestCmd())
	return cmd
}

func (a *app) guardTestCmd() *cobra.Command {
	o := &trialOptions{}
	cmd := &cobra.Command{
		Use: "test [CALL]", Short: "what would become of a call, without running it", Args: exactArgs(0, 1),
		Long: "Say what would become of a call, or of those on stdin, one a line: allow, ask (deny where nobody is there) or deny, with\n" +
			"the stage and the rule that decided. Nothing is run and nobody is asked. The checkout stands for the ant's worktree. A level\n" +
			"of the sandbox that this machine does not hold is refused, as it is by run; a hook that would look is named.\n" +
			"With --expect the command ends with 3 where any call comes to something else.\n" + exitHelp,
		Example: `  colony guard test '{"tool":"sh","args":{"command":"rm -rf build"}}'
  colony guard test --card scout --mode ask --json <calls.jsonl
  colony guard test --expect deny '{"tool":"write","args":{"path":".git/config","content":"x"}}'`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.guardTest(cmd, o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.card, "card", "", "for ants of the card `NAME`; run.card otherwise")
	f.StringVar(&o.mode, "mode", "", "plan, ask, auto-edit or auto")
	f.StringVar(&o.rules, "rules", "", "with the rules of `FILE` too: allow, ask and deny, each a list")
	f.StringVar(&o.sandbox, "sandbox", "", "read-only, workspace or off")
	f.StringVar(&o.expect, "expect", "", "end with 3 unless every call comes to `DECISION`: allow, ask or deny")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) guardTest(cmd *cobra.Command, o *trialOptions, args []string) error {
	switch o.expect {
	case "", guard.Allow, guard.Ask, guard.Deny:
	default:
		return usage(cmd, fmt.Errorf("--expect %s: take allow, ask or deny", o.expect))
	}
	try, err := a.trial(cmd, o)
	if err != nil {
		return err
	}
	in := a.in
	if len(args) == 1 {
		in = bytes.NewReader([]byte(args[0]))
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestCall)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		call, err := readCall(lines.Bytes())
		if err != nil {
			return usage(cmd, fmt.Errorf("call %d: %w", n, err))
		}
		d, err := try(call)
		if err != nil {
			return err
		}
		if err := a.sayDecision(d); err != nil {
			return err
		}
		if o.expect != "" && d.Decision != o.expect {
			a.exit = 3
		}
	}
	if err := lines.Err(); err != nil {
		return usage(cmd, fmt.Errorf("read the calls: %w", err))
	}
	return nil
}

// trial is what decides, as the flags want it.
func (a *app) trial(cmd *cobra.Command, o *trialOptions) (func(tools.Call) (guard.Decision, error), error) {
	flags := map[string]string{}
	for key, value := range map[string]string{"run.mode": o.mode, "sandbox.level": o.sandbox} {
		if value != "" {
			flags[key] = value
		}
	}
	house, err := a.house("", flags)
	if err != nil {
		return nil, err
	}
	more, err := a.rulesIn(cmd, o.rules, house.ToolNames())
	if err != nil {
		return nil, err
	}
	try, err := house.Trial(o.card, more, a.getenv)
	if err != nil {
		return nil, err
	}
	return try, house.Held(cmd.Context(), a.getenv)
}

// rulesIn reads a file of rules; no file has none.
func (a *app) rulesIn(cmd *cobra.Command, file string, names []string) (guard.Rules, error) {
	if file == "" {
		return guard.Rules{}, nil
	}
	data, err := os.ReadFile(a.path(file))
	if err != nil {
		return guard.Rules{}, usage(cmd, fmt.Errorf("--rules: %w", err))
	}
	var lists struct {
		Allow []string `yaml:"allow"`
		Ask   []string `yaml:"ask"`
		Deny  []string `yaml:"deny"`
	}
	if faults := strict.Decode(file, data, &lists); len(faults) > 0 {
		return guard.Rules{}, faults
	}
	rules, err := guard.ParseRules(lists.Allow, lists.Ask, lists.Deny, names)
	if err != nil {
		return guard.Rules{}, &hatch.Problem{Exit: 2, Code: "bad_rule", Message: file + ": " + err.Error(), Next: "mend the rule"}
	}
	return rules, nil
}

// readCall reads a call as people write it: {"tool":…,"args":{…}}.
func readCall(line []byte) (tools.Call, error) {
	var c struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return tools.Call{}, fmt.Errorf(`it is not {"tool":…,"args":{…}}: %w`, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return tools.Call{}, fmt.Errorf("something follows the call")
	}
	if c.Tool == "" {
		return tools.Call{}, fmt.Errorf("it names no tool")
	}
	return tools.Call{ID: "test", Name: c.Tool, Args: c.Args}, nil
}

func (a *app) sayDecision(d guard.Decision) error {
	if !a.json {
		_, err := fmt.Fprintf(a.out, "%-5s at %s by %s, for %s: %s\n", d.Decision, d.Stage, view.Line(d.Rule), view.Line(d.Segment), view.Line(d.Reason))
		return err
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s\n", view.EscapeJSON(data))
	return err
}
