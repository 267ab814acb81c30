package main

import (
	"io"

	"github.com/hashicorp/go-hclog"

	"colony/guard/secrets"
)

// diagnostics is the operator's log on stderr: silent unless COLONY_LOG names a level.
func (a *app) diagnostics() hclog.Logger {
	level := hclog.LevelFromString(a.getenv("COLONY_LOG"))
	if level == hclog.NoLevel {
		level = hclog.Off
	}
	return hclog.New(&hclog.LoggerOptions{Name: "colony", Level: level, Output: a.err})
}

// detector finds credentials in what leaves the command beside a run's log.
func (a *app) detector() *secrets.Detector { return secrets.New(secrets.Environ(a.environ())...) }

// guarded lets nothing leave the command, in words or in JSON, before credentials in it are replaced.
func (a *app) guarded() {
	known := a.detector()
	a.out, a.err = redacting{a.out, known}, redacting{a.err, known}
}

// exactly is what a program of the user's, or a patch, is written to: byte for byte.
func exactly(w io.Writer) io.Writer {
	if r, ok := w.(redacting); ok {
		return r.w
	}
	return w
}

// redacting puts markers in the place of credentials of each record that is written to it.
type redacting struct {
	w       io.Writer
	secrets *secrets.Detector
}

// Write writes one record. It has written all of it or none.
func (r redacting) Write(record []byte) (int, error) {
	if _, err := io.WriteString(r.w, r.secrets.Redact(string(record))); err != nil {
		return 0, err
	}
	return len(record), nil
}

var _ io.Writer = redacting{}
