package tools

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"colony/strict"
)

// toolAliases are names that models know from elsewhere, by the tool that does the work here.
func toolAliases() map[string][]string {
	return map[string][]string{
		"sh":         {"bash", "shell", "terminal", "exec", "execute", "run", "run_command", "run_shell_command", "execute_command", "local_shell", "cmd"},
		"edit":       {"apply_patch", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "patch", "replace", "multi_edit", "multiedit", "edit_file", "update_file"},
		"read":       {"cat", "open", "view", "read_file", "view_file", "open_file", "get_file"},
		"write":      {"create", "create_file", "write_file", "write_to_file", "new_file", "save_file"},
		"find":       {"grep", "glob", "ls", "rg", "search_files", "search_file_content", "list_files", "list_dir", "list_directory", "codebase_search", "grep_search"},
		"fetch":      {"web_fetch", "webfetch", "curl", "http_get", "read_url"},
		"search":     {"web_search", "websearch", "google"},
		"done":       {"finish", "submit", "complete", "attempt_completion", "task_complete", "end", "exit"},
		"ask":        {"ask_user", "ask_question", "ask_followup_question", "question"},
		"list_tools": {"tools", "help"},
	}
}

// fieldAliases are field names that models know from elsewhere, by the field that is meant here.
func fieldAliases() map[string][]string {
	return map[string][]string{
		"path":        {"file_path", "filepath", "file", "filename", "file_name", "target_file", "absolute_path", "directory", "dir"},
		"command":     {"cmd", "script", "bash", "shell", "code", "input"},
		"content":     {"contents", "text", "file_text", "data", "body", "regex", "query"},
		"old":         {"old_string", "old_str", "old_text", "search", "find"},
		"new":         {"new_string", "new_str", "new_text", "replacement", "replace"},
		"replace_all": {"all", "global"},
		"from":        {"offset", "start", "start_line", "line", "from_line"},
		"to":          {"end", "end_line", "to_line"},
		"pattern":     {"glob", "include", "name"},
		"limit":       {"max_results", "head_limit", "count", "max"},
		"timeout":     {"timeout_ms", "timeout_seconds"},
		"background":  {"run_in_background", "detach"},
		"query":       {"q", "search", "term"},
		"url":         {"uri", "link", "href"},
		"question":    {"text", "prompt", "message"},
		"choices":     {"options", "answers"},
		"summary":     {"message", "result", "text", "reason"},
	}
}

// suggest is the right name of a tool that an ant called by another, as a phrase, from what this registry shows;
// empty where nothing fits.
func (r *Registry) suggest(name string) string {
	var shown []string
	for _, s := range r.List() {
		shown = append(shown, s.Name)
	}
	right := meant(name, shown, toolAliases())
	if right == "" {
		return ""
	}
	return ": use " + right
}

func (r *Registry) unknownTool(name string) string {
	if hint := r.suggest(name); hint != "" {
		return fmt.Sprintf("there is no tool %q%s", clip(name), hint)
	}
	var shown []string
	for _, s := range r.Specs() {
		shown = append(shown, s.Name)
	}
	return fmt.Sprintf("there is no tool %q. Yours are: %s", clip(name), clipReason(strings.Join(shown, ", ")))
}

// fieldHint is what to write instead of an unknown field.
func fieldHint(key string, props map[string]any) string {
	fields := slices.Sorted(maps.Keys(props))
	if right := meant(key, fields, fieldAliases()); right != "" {
		return "use " + right
	}
	if len(fields) == 0 {
		return "it takes no arguments"
	}
	return "fields: " + clipReason(strings.Join(fields, ", "))
}

// meant is the name among those known that a wrong one stands for: by alias, else the nearest.
func meant(wrong string, known []string, aliases map[string][]string) string {
	plain := strings.ToLower(strings.TrimSpace(wrong))
	for _, name := range known {
		if slices.Contains(aliases[name], plain) {
			return name
		}
	}
	return strict.Nearest(plain, known)
}
