package builtin

import (
	"colony/guard/secrets"
)

// whole refuses text that holds the marker of a credential: it would take the credential's place in the file.
func whole(field, text string) error {
	marker, ok := secrets.Marked(text)
	if !ok {
		return nil
	}
	return badArg(field, "holds "+marker+", which stands for a credential that you are not shown", "leave its line as it is, and edit around it")
}
