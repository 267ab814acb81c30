package tools

// Skill is instructions that an ant calls up when it needs them, and the files that lie beside them.
type Skill struct {
	Name, Description string
	Body              string            // Markdown
	Allowed           []string          // permission rules that its use approves beforehand
	Files             map[string]string // by their paths below it; its own text is not among them
	At                string            // where processes of the ant find the files; empty where there are none
}
