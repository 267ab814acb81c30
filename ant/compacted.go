package ant

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"colony/event"
	"colony/model"
	"colony/tools"
)

// summaryMark ends the ids of requests for a summary: their replies are no part of the conversation.
const summaryMark = ".summary"

// compacted makes the conversation smaller, as the event says. It is the same at every rebuilding.
func (m *Memory) compacted(body event.AntCompacted) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = nil
	if body.Summary != "" {
		m.messages = append(m.firstTold(), append([]model.Message{{Role: model.User, Text: summaryHead + body.Summary}}, m.sinceReply()...)...)
		return
	}
	for i := range m.messages {
		if m.messages[i].Role == model.Tool {
			m.messages[i].Text, m.messages[i].Images = shortened(m.messages[i].Text, body.Results), nil
		}
	}
	if body.Last > 0 {
		for id, d := range m.results {
			d.Text, d.Images = shortened(d.Text, body.Last), nil
			m.results[id] = d
		}
	}
}

const summaryHead = "The conversation was too long and was summed up. This is where it stands; go on from here. Files have to be read again before they are edited.\n\n"

// shortened is a text cut to its first and its last part.
func shortened(text string, limit int) string {
	if len(text) <= limit+200 { // what the note below takes
		return text
	}
	cut, _, err := tools.CapText(text, limit, nil)
	if err != nil { // without a store nothing can go wrong
		return text
	}
	return strings.Replace(cut, "the rest was not kept", "shortened to save room: call again for what you need", 1)
}

// firstTold is the first text that the ant was told, its task. The caller holds mu.
func (m *Memory) firstTold() []model.Message {
	for _, one := range m.messages {
		if one.Role == model.User {
			return []model.Message{one}
		}
	}
	return nil
}

// sinceReply is what a summary leaves as it is: the last reply while its results come, or what was told since. The caller
// holds mu.
func (m *Memory) sinceReply() []model.Message {
	last := 0
	for i, one := range m.messages {
		if one.Role == model.Assistant {
			last = i
		}
	}
	if len(m.open) > 0 {
		return slices.Clone(m.messages[last:])
	}
	var told []model.Message
	for i, one := range m.messages {
		if i > last && i > 0 && one.Role == model.User {
			told = append(told, one)
		}
	}
	return told
}

// clone is a copy that can be changed.
func (m *Memory) clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{messages: slices.Clone(m.messages), open: m.open, results: maps.Clone(m.results)}
}

// bytes is the size of the conversation.
func (m *Memory) bytes() int { return model.Request{Messages: m.Messages()}.Bytes() }

// lastBytes is the size of the results of the last reply, lastCount how many there are.
func (m *Memory) lastBytes() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.results {
		n += len(d.Text)
	}
	return n
}

func (m *Memory) lastCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.results)
}

// What a transcript keeps of one text, and of all, in bytes.
const (
	transcriptText = 2048
	transcriptAll  = 96 << 10
)

// transcript is the conversation up to the last reply, for whoever sums it up; empty where there is nothing to sum up.
func (m *Memory) transcript() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := len(m.messages) - len(m.sinceReply())
	if kept <= 1 {
		return ""
	}
	var b strings.Builder
	for _, one := range m.messages[:kept] {
		fmt.Fprintf(&b, "## %s\n", one.Role)
		if one.Text != "" {
			limit := transcriptText
			if one.Role == model.User {
				limit *= 4
			}
			b.WriteString(shortened(one.Text, limit) + "\n")
		}
		for _, c := range one.Calls {
			fmt.Fprintf(&b, "%s %s\n", c.Name, shortened(string(c.Args), transcriptText))
		}
	}
	if loaded := m.loaded; len(loaded) > 0 {
		fmt.Fprintf(&b, "## tools that were loaded\n%s\n", strings.Join(loaded, ", "))
	}
	return shortened(b.String(), transcriptAll)
}

// notes are what colony itself can say of a conversation: the last calls, and what the model said last.
func (m *Memory) notes() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var calls []string
	text := ""
	for _, one := range m.messages {
		if one.Role == model.Assistant && one.Text != "" {
			text = one.Text
		}
		for _, c := range one.Calls {
			calls = append(calls, "- "+c.Name+" "+shortened(string(c.Args), 200))
		}
	}
	calls = calls[max(0, len(calls)-40):]
	return "No summary could be made. Your calls so far, the last of them:\n" + strings.Join(calls, "\n") + "\n\nYou said last: " + shortened(text, transcriptText) +
		"\n\nLook at the worktree with git status and git diff before you go on."
}
