package event

import (
	"context"
	"fmt"
)

// Flushed says how the log reaches the disk, as SQLite itself answers: its journal and its synchronous mode.
func (s *Store) Flushed(ctx context.Context) (string, error) {
	var journal string
	var level int
	conn, err := s.file.db.Conn(ctx)
	if err != nil {
		return "", fmt.Errorf("ask how the log is flushed: %w", err)
	}
	defer conn.Close()
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal); err != nil {
		return "", fmt.Errorf("ask how the log is flushed: %w", err)
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level); err != nil {
		return "", fmt.Errorf("ask how the log is flushed: %w", err)
	}
	names := [...]string{"off", "normal", "full", "extra"}
	if level < 0 || level >= len(names) {
		return "", fmt.Errorf("ask how the log is flushed: level %d", level)
	}
	return "journal " + journal + ", sync " + names[level], nil
}
