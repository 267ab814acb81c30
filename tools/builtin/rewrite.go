package builtin

import (
	"bytes"
	"context"

	"colony/tools"
)

// Rewrite puts a new content in the place of the one that a file still has, as an edit would: under its lock, in one step, no
// link followed. Of a file that the ant has not read it knows nothing afterwards. Dry only says what would change.
func Rewrite(ctx context.Context, env *tools.Env, path string, before, after []byte, dry bool) (tools.Result, error) {
	return locked(ctx, env, path, func() (tools.Result, error) {
		c, refused, err := begin(env, "rewrite", path)
		if refused != nil || err != nil {
			return orRefused(refused), err
		}
		if !c.exists || !bytes.Equal(c.before, before) {
			return tools.Refuse(tools.StaleRead, path+" changed meanwhile: call again"), nil
		}
		known := env.Files.Parts(c.place.abs, c.was)
		c.become(after, compare(string(before), string(after)))
		c.keepKnown(known)
		if len(known) == 0 {
			c.seen = nil
		}
		if dry {
			return c.preview("would change " + path), nil
		}
		if err := c.apply(env); err != nil {
			return broken("rewrite", path, err), nil
		}
		return c.done("changed " + path), nil
	})
}
