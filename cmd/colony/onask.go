package main

import (
	"fmt"
	"strings"
	"time"

	"colony/hatch"

	"github.com/spf13/cobra"
)

const onAskHelp = "what a question comes to: `deny`, wait[:DURATION] or stop"

// onAsk reads what --on-ask says into the parts of a run.
func onAsk(cmd *cobra.Command, word string, parts *hatch.Parts) error {
	what, rest, timed := strings.Cut(word, ":")
	switch {
	case word == "":
		return nil
	case what == "wait" && timed:
		limit, err := time.ParseDuration(rest)
		if err != nil || limit <= 0 {
			return usage(cmd, fmt.Errorf("--on-ask %s: %q is no duration such as 30m", word, rest))
		}
		parts.AskWait = limit
	case timed, what != "deny" && what != "wait" && what != "stop":
		return usage(cmd, fmt.Errorf("--on-ask %s: it is deny, wait, wait:DURATION or stop", word))
	}
	parts.OnAsk = what
	return nil
}
