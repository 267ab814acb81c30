package event

import (
	"context"
	"iter"
)

// pageSize is how many records are fetched at once. No transaction is open while a page is yielded.
const pageSize = 256

// source is where records are kept.
type source interface {
	name() string
	// end is the place of the last record; it is an error where there were more.
	end(ctx context.Context) (Seq, error)
	// fetch is at most pageSize records in order, from the place given.
	fetch(ctx context.Context, from Seq) ([]record, error)
	// watch returns a function that waits until the source may have grown since it was called last, or since
	// watch was; and one that frees what that needs.
	watch(ctx context.Context) (wait func(context.Context) error, free func(), err error)
}

// read yields what follows after, up to the end at the moment of the first step.
func read(ctx context.Context, src source, after Seq) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		end, err := src.end(ctx)
		if err != nil {
			yield(Event{}, err)
		}
		if end == 0 {
			return
		}
		v := verifier{log: src.name(), after: after}
		v.upTo(ctx, src, end, yield)
	}
}

// follow yields what follows after, and waits for more. It ends with the error of ctx.
func follow(ctx context.Context, src source, after Seq) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		wait, free, err := src.watch(ctx)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer free()
		if _, err := src.end(ctx); err != nil {
			yield(Event{}, err)
			return
		}
		v := verifier{log: src.name(), after: after}
		for {
			if !v.upTo(ctx, src, 0, yield) {
				return
			}
			if err := wait(ctx); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// upTo yields records until the source has no more, or up to end where end is not 0. It reports whether to
// go on.
func (v *verifier) upTo(ctx context.Context, src source, end Seq, yield func(Event, error) bool) bool {
	for end == 0 || v.after < end {
		page, err := src.fetch(ctx, v.from())
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(Event{}, err)
			return false
		}
		if len(page) == 0 {
			return true
		}
		for _, r := range page {
			e, ok, err := v.next(r)
			if err != nil {
				yield(Event{}, err)
				return false
			}
			if ok && !yield(e, nil) {
				return false
			}
			if v.after == end {
				break
			}
		}
	}
	return true
}
