package model

import "time"

// GovernorParts is what a Governor is made of.
type GovernorParts struct {
	Attempts  int           // how often one request is sent at most; 0 is 6
	FirstWait time.Duration // how long an endpoint that never answered is tried; 0 is 4s
	Outage    time.Duration // how long one that answered before and is gone or overloaded is waited for; 0 is 10m
	MaxWait   time.Duration // the longest wait that a provider can ask for; 0 is 5m
	Throttled func(why string, until time.Time)
}

// Governor is shared by all ants that use one key and one model.
type Governor struct{ parts GovernorParts }

// NewGovernor returns a governor that has sent nothing yet.
func NewGovernor(p GovernorParts) (*Governor, error) { return &Governor{p}, nil }

// Around is inner under the governor's rules.
func (g *Governor) Around(inner Provider) Provider { return inner }
