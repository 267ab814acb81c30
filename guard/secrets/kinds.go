package secrets

import "strings"

// The kinds of credentials.
const (
	OpenAI        = "openai"
	Anthropic     = "anthropic"
	GitHub        = "github"
	GitLab        = "gitlab"
	AWS           = "aws"
	Azure         = "azure"
	Google        = "google"
	HuggingFace   = "huggingface"
	Slack         = "slack"
	Stripe        = "stripe"
	NPM           = "npm"
	PyPI          = "pypi"
	JWT           = "jwt"
	PrivateKey    = "private-key"
	URLPassword   = "url-password"
	Netrc         = "netrc"
	Authorization = "authorization"
	Env           = "env" // the value of a variable of the user's
)

// Kinds are all kinds.
func Kinds() []string {
	return []string{OpenAI, Anthropic, GitHub, GitLab, AWS, Azure, Google, HuggingFace, Slack, Stripe, NPM, PyPI, JWT, PrivateKey, URLPassword, Netrc, Authorization, Env}
}

const (
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower = "abcdefghijklmnopqrstuvwxyz"
	digit = "0123456789"
	alnum = upper + lower + digit
)

// class is a set of bytes.
type class [256]bool

func of(bytes string) *class {
	var c class
	for _, b := range []byte(bytes) {
		c[b] = true
	}
	return &c
}

var (
	letters = of(upper + lower)
	words   = of(alnum)
	small   = of(lower + "-_./")
)

// prefixed is a credential that is known by how it begins: prefix, and then at least least bytes of class.
type prefixed struct {
	kind, prefix string
	class        *class
	least        int
	apart        bool // a letter or digit before it makes it a part of a word
}

// prefixes are looked for in this order: the longer of two that begin alike stands first.
var prefixes = []prefixed{
	{Anthropic, "sk-ant-", of(alnum + "-_"), 16, false},
	{OpenAI, "sk-", of(alnum + "-_"), 16, true},
	{GitHub, "github_pat_", of(alnum + "_"), 20, false},
	{GitHub, "ghp_", of(alnum), 20, false},
	{GitHub, "gho_", of(alnum), 20, false},
	{GitHub, "ghu_", of(alnum), 20, false},
	{GitHub, "ghs_", of(alnum), 20, false},
	{GitHub, "ghr_", of(alnum), 20, false},
	{GitLab, "glpat-", of(alnum + "-_."), 16, false},
	{GitLab, "gldt-", of(alnum + "-_."), 16, false},
	{GitLab, "glrt-", of(alnum + "-_."), 16, false},
	{AWS, "AKIA", of(upper + digit), 16, true},
	{AWS, "ASIA", of(upper + digit), 16, true},
	{Azure, "AccountKey=", of(alnum + "+/="), 40, false},
	{Google, "AIza", of(alnum + "-_"), 30, true},
	{Google, "ya29.", of(alnum + "-_"), 20, true},
	{HuggingFace, "hf_", of(alnum), 20, true},
	{Slack, "xoxa-", of(alnum + "-"), 10, true},
	{Slack, "xoxb-", of(alnum + "-"), 10, true},
	{Slack, "xoxe-", of(alnum + "-"), 10, true},
	{Slack, "xoxe.", of(alnum + "-."), 10, true},
	{Slack, "xoxo-", of(alnum + "-"), 10, true},
	{Slack, "xoxp-", of(alnum + "-"), 10, true},
	{Slack, "xoxr-", of(alnum + "-"), 10, true},
	{Slack, "xoxs-", of(alnum + "-"), 10, true},
	{Slack, "xapp-", of(alnum + "-"), 10, true},
	{Slack, "hooks.slack.com/services/", of(alnum + "/"), 20, false},
	{Stripe, "sk_live_", of(alnum), 16, true},
	{Stripe, "rk_live_", of(alnum), 16, true},
	{Stripe, "whsec_", of(alnum + "+/="), 20, true},
	{NPM, "npm_", of(alnum), 20, true},
	{NPM, "_authToken=", of(alnum + "-_.+/="), 16, false},
	{PyPI, "pypi-", of(alnum + "-_"), 32, true},
}

// find is a shape.
func (p prefixed) find(text string, at int) (Finding, bool) {
	if !strings.HasPrefix(text[at:], p.prefix) || p.apart && !begins(text, at) {
		return Finding{}, false
	}
	from := at + len(p.prefix)
	end := run(text, from, from+longest, p.class)
	if end-from < p.least || !random(text[from:end]) {
		return Finding{}, false
	}
	return Finding{p.kind, at, run(text, end, len(text), p.class)}, true
}

// longest is how far a shape looks before it knows that it found something.
const longest = 128

// run is where the bytes of class from from on end, at most at to.
func run(text string, from, to int, class *class) int {
	for to = min(to, len(text)); from < to && class[text[from]]; {
		from++
	}
	return from
}

// begins reports whether a word begins at at. The letter of an escape such as \n belongs to no word.
func begins(text string, at int) bool {
	if at == 0 || !words[text[at-1]] {
		return true
	}
	return at > 1 && text[at-2] == '\\' && strings.IndexByte("nrt", text[at-1]) >= 0 ||
		at > 2 && text[at-3] == '%' // %3D
}

// random tells what a machine drew from names and from stand-ins such as xxxx: it has several bytes, and not only
// small letters.
func random(s string) bool {
	var seen [256]bool
	several, plain := 0, true
	for _, b := range []byte(s) {
		if !seen[b] {
			seen[b] = true
			several++
		}
		plain = plain && small[b]
	}
	return several >= 5 && !plain
}
