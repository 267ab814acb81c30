package tools

import "colony/view"

// redactViews replaces secrets in every text of the views.
func redactViews(views view.List, redact func(string) string) view.List {
	out := make(view.List, 0, len(views))
	for _, v := range views {
		out = append(out, redactView(v, redact))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func redactView(v view.View, redact func(string) string) view.View {
	switch v := v.(type) {
	case view.Diff:
		v.Unified = redact(v.Unified)
		return v
	case view.Matches:
		items := make([]view.Match, len(v.Items))
		for i, m := range v.Items {
			m.Text = redact(m.Text)
			items[i] = m
		}
		v.Items = items
		return v
	case view.Exit:
		v.Command = redact(v.Command)
		return v
	case view.Problems:
		items := make([]view.Problem, len(v.Items))
		for i, p := range v.Items {
			p.Text = redact(p.Text)
			items[i] = p
		}
		v.Items = items
		return v
	case view.Page:
		v.URL, v.Title, v.Text = redact(v.URL), redact(v.Title), redact(v.Text)
		return v
	case view.JSON:
		v.Text = redact(v.Text)
		return v
	}
	return view.JSON{Text: `{"unknown":"view"}`}
}
