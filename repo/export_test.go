package repo

// GoPaths is what a go.mod or go.work leads to, for the fuzz target.
var GoPaths = goPaths
