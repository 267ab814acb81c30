package event_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"colony/event"
)

// takeAll is what is on a desk, which is empty then.
func takeAll(dir string) (wishes []event.Wish, err error) {
	err = event.Take(dir, func(w event.Wish) error {
		wishes = append(wishes, w)
		return nil
	})
	return wishes, err
}

// A wish that could not be carried out is still there, and so are those after it.
func TestWishStaysUntilItIsCarriedOut(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"a", "b", "c"} {
		if err := event.Leave(dir, event.Wish{Kind: "steer", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	err := event.Take(dir, func(w event.Wish) error {
		if w.Text == "b" {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	if got, err := takeAll(dir); err != nil || len(got) != 2 || got[0].Text != "b" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWishesAreTakenOnceInOrder(t *testing.T) {
	dir := t.TempDir()
	if got, err := takeAll(dir); err != nil || got != nil {
		t.Fatalf("an empty desk: %v, %v", got, err)
	}
	want := []event.Wish{
		{Kind: "steer", Ant: "worker-1", Text: "hurry"},
		{Kind: "answer", Ask: "worker-1.1", Text: "allow", By: event.By{User: "ada", PID: 7, Via: "terminal"}},
		{Kind: "stop"},
	}
	for _, w := range want {
		if err := event.Leave(dir, w); err != nil {
			t.Fatal(err)
		}
	}
	got, err := takeAll(dir)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("took %+v, %v", got, err)
	}
	if got, err := takeAll(dir); err != nil || len(got) != 0 {
		t.Errorf("taken twice: %+v, %v", got, err)
	}
}

func TestWhatIsNoWishIsSweptAway(t *testing.T) {
	dir := t.TempDir()
	desk := filepath.Join(dir, "desk")
	if err := os.MkdirAll(desk, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.json": "{", "b.json": `{"kind":"dance"}`, "c.json": strings.Repeat("x", 1<<20), "half.tmp": "{"} {
		if err := os.WriteFile(filepath.Join(desk, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(desk, "d.json")); err != nil {
		t.Fatal(err)
	}
	if got, err := takeAll(dir); err != nil || len(got) != 0 {
		t.Errorf("took %+v, %v", got, err)
	}
	left, err := os.ReadDir(desk)
	if err != nil || len(left) != 1 || left[0].Name() != "half.tmp" {
		t.Errorf("left %v, %v", left, err)
	}
	if err := event.Leave(dir, event.Wish{Kind: "steer", Text: strings.Repeat("x", 1<<17)}); err == nil {
		t.Error("a wish of 128 KiB was left")
	}
}
