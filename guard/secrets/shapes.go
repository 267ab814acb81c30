package secrets

import (
	"slices"
	"strings"
)

var (
	base64    = of(alnum + "+/=")
	base64url = of(alnum + "-_")
	dotted    = of(alnum + "-_.")
	token     = of(alnum + "-_.~+/=")
	label     = of(upper + digit + " ")
	name      = of(upper + lower + "_-")
	between   = of("\"'\\:=> \t")
	body      = of(alnum + "+/=\\ \t\r\n:,.()_-|>")
)

// jwt finds three parts in base64url, of which the first is JSON.
func jwt(text string, at int) (Finding, bool) {
	if !strings.HasPrefix(text[at:], "eyJ") || at > 0 && dotted[text[at-1]] {
		return Finding{}, false
	}
	end := at
	for part, least := range []int{10, 4, 10} {
		if part > 0 {
			if end >= len(text) || text[end] != '.' {
				return Finding{}, false
			}
			end++
		}
		from := end
		if end = run(text, from, from+longestPart, base64url); end-from < least {
			return Finding{}, false
		}
	}
	return Finding{JWT, at, run(text, end, len(text), dotted)}, true
}

// longestPart bounds the parts of a token: they come in a header of HTTP.
const longestPart = 16 << 10

const (
	dashes   = "-----"
	pemBegin = dashes + "BEGIN "
	pemEnd   = dashes + "END "
)

// privateKey finds a key in PEM: to its end, or as far as it goes where that was cut off. What stands between may be
// escaped, indented or numbered.
func privateKey(text string, at int) (Finding, bool) {
	if !strings.HasPrefix(text[at:], pemBegin) {
		return Finding{}, false
	}
	from := at + len(pemBegin)
	to := run(text, from, from+60, label)
	if !strings.Contains(text[from:to], "PRIVATE KEY") || !strings.HasPrefix(text[to:], dashes) {
		return Finding{}, false
	}
	from = to + len(dashes)
	to = from
	row, long := 0, 0
	for to < len(text) && body[text[to]] && !strings.HasPrefix(text[to:], dashes) {
		if row++; !base64[text[to]] {
			row = 0
		}
		long = max(long, row)
		to++
	}
	switch {
	case long == 0:
		return Finding{}, false
	case strings.HasPrefix(text[to:], pemEnd):
		to = run(text, to+len(pemEnd), to+len(pemEnd)+60, label)
		if strings.HasPrefix(text[to:], dashes) {
			to += len(dashes)
		}
		return Finding{PrivateKey, at, to}, true
	}
	for text[to-1] == '\\' { // it belongs to what follows
		to--
	}
	return Finding{PrivateKey, at, to}, long >= 32
}

// urlPassword finds the password of a URL.
func urlPassword(text string, at int) (Finding, bool) {
	if !strings.HasPrefix(text[at:], "://") || at == 0 || !words[text[at-1]] {
		return Finding{}, false
	}
	rest := text[at+3 : min(len(text), at+3+longest)]
	userinfo := strings.IndexAny(rest, "@/ \t\r\n\"'`<>\\?#")
	if userinfo < 0 || rest[userinfo] != '@' {
		return Finding{}, false
	}
	user, password, both := strings.Cut(rest[:userinfo], ":")
	if !both || standIn(password) || password == user {
		return Finding{}, false
	}
	to := at + 3 + userinfo
	return Finding{URLPassword, to - len(password), to}, true
}

// standIn reports whether a password is one that stands in for another, or that everybody knows.
func standIn(password string) bool {
	if password == "" || password[0] == '%' || strings.ContainsAny(password, "${}*()[]") || !strings.ContainsFunc(password, func(r rune) bool { return r != rune(password[0]) }) {
		return true
	}
	return slices.Contains([]string{"password", "passwd", "pass", "secret", "pwd", "pw", "root", "admin", "postgres", "user", "guest", "test", "example", "token"}, strings.ToLower(password))
}

// netrc finds the password of an entry of a netrc file.
func netrc(text string, at int) (Finding, bool) {
	if !strings.HasPrefix(text[at:], "machine") || at > 0 && dotted[text[at-1]] && !escaped(text, at-2) {
		return Finding{}, false
	}
	to := at + len("machine")
	word := func() (w string) {
		w, to = nextWord(text, to)
		return w
	}
	word() // the machine's name
	for range 2 {
		switch word() {
		case "login", "account":
			word()
		case "password":
			if p := word(); !standIn(p) {
				return Finding{Netrc, to - len(p), to}, true
			}
			return Finding{}, false
		default:
			return Finding{}, false
		}
	}
	return Finding{}, false
}

// escaped reports whether a quote or the end of a line stands at a place as JSON writes it.
func escaped(text string, at int) bool {
	return at >= 0 && at+1 < len(text) && text[at] == '\\' && strings.IndexByte("ntr\"", text[at+1]) >= 0
}

// nextWord is the word that begins at from or after the blanks there, also as JSON writes them, and where it ends.
func nextWord(text string, from int) (word string, end int) {
	for blanks := 0; from < len(text) && blanks < longest; blanks++ {
		if escaped(text, from) && text[from+1] != '"' {
			from++
		} else if strings.IndexByte(" \t\r\n", text[from]) < 0 {
			break
		}
		from++
	}
	end = from
	for end < len(text) && end-from < longest && strings.IndexByte(" \t\r\n\"'`;,", text[end]) < 0 && !escaped(text, end) {
		end++
	}
	return text[from:end], end
}

// authorization finds what a header of this name holds.
func authorization(text string, at int) (Finding, bool) {
	const name = "authorization"
	if len(text)-at < len(name) || !strings.EqualFold(text[at:at+len(name)], name) {
		return Finding{}, false
	}
	from := run(text, at+len(name), at+len(name)+8, between)
	if from == at+len(name) {
		return Finding{}, false
	}
	if scheme := run(text, from, from+20, letters); scheme > from && scheme < len(text) && text[scheme] == ' ' {
		from = scheme + 1
	}
	to := run(text, from, from+longest, token)
	if to-from < 16 || !random(text[from:to]) {
		return Finding{}, false
	}
	return Finding{Authorization, from, run(text, to, len(text), token)}, true
}

// awsSecret finds the forty bytes after a name such as aws_secret_access_key.
func awsSecret(text string, at int) (Finding, bool) {
	const word = "secret"
	if len(text)-at < len(word) || !strings.EqualFold(text[at:at+len(word)], word) {
		return Finding{}, false
	}
	to := run(text, at, at+24, name)
	from := run(text, to, to+8, between)
	end := run(text, from, from+41, base64)
	if from == to || end-from != 40 || !random(text[from:end]) {
		return Finding{}, false
	}
	return Finding{AWS, from, end}, true
}
