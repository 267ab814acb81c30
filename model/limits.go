package model

import "time"

// Limits is what a provider said about its rate limits beside a reply. The zero value says nothing.
type Limits struct {
	Requests, Tokens Limit
}

// Limit is how much is left of one allowance, and how long until it is full again.
type Limit struct {
	Known bool
	Left  int64
	Reset time.Duration
}
