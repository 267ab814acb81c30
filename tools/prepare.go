package tools

// Prepare looks a call up and reads its arguments. What comes back is ready to run or refused; nothing was touched.
func (r *Registry) Prepare(c Call) Prepared {
	t, ok := r.Lookup(c.Name)
	if !ok {
		no := Refuse(Validation, "unknown tool")
		return Prepared{Call: c, Refused: &no}
	}
	return Prepared{Call: c, Tool: t}
}
