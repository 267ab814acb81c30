package secrets_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"colony/guard/secrets"
)

// plain is a canary as it would stand in a file: in this one a ~ keeps it from looking like a credential.
func plain(s string) string { return strings.ReplaceAll(s, "~", "") }

var (
	fake40 = "wJalrXUtnFEMI/K7MDENG/bPxRfiCY~zzzCANARY1"
	row    = strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 2)
)

// canaries are one or more credentials of each kind: what is before and after them stays.
var canaries = []struct{ kind, before, secret, after string }{
	{secrets.OpenAI, "OPENAI_API_KEY=", "sk~-proj-Ab3dEf6hIj9lMn2pQr5tUv8xYz1", "\n"},
	{secrets.OpenAI, `{"key":"a\n`, "sk~-0123456789abcdef0123456789abcdef", `"}`},
	{secrets.Anthropic, "", "sk~-ant-api03-Ab3dEf6hIj9lMn2pQr5t", ""},
	{secrets.GitHub, "https://x?t=%3D", "ghp~_Ab3dEf6hIj9lMn2pQr5tUv8xYz1234567890", "&a=b"},
	{secrets.GitHub, "token: ", "github~_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789", ""},
	{secrets.GitLab, "'", "glpat~-Ab3dEf6hIj9lMn2pQr5t", "'"},
	{secrets.AWS, "aws_access_key_id = ", "AKIA~IOSFODNN7EXAMPLE", "\n"},
	{secrets.AWS, "aws_secret_access_key = ", fake40, "\n"},
	{secrets.AWS, `"SecretAccessKey": "`, fake40, `",`},
	{secrets.Azure, "AccountName=x;", "AccountKey~=Ab3dEf6hIj9lMn2pQr5tUv8xYz1Ab3dEf6hIj9lMn2pQr5tUv8xYz1==", ";Endpoint"},
	{secrets.Google, "key=", "AIza~SyAb3dEf6hIj9lMn2pQr5tUv8xYz12345_-", "&q"},
	{secrets.HuggingFace, "HF_TOKEN=", "hf~_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh", ""},
	{secrets.Slack, "", "xoxb~-1234567890-Ab3dEf6hIj9l", ""},
	{secrets.Slack, "https://", "hooks.slack.com~/services/T00000000/B00000000/Ab3dEf6hIj9lMn2pQr5t", ""},
	{secrets.Stripe, "key(", "sk_live~_Ab3dEf6hIj9lMn2pQr5t", ")"},
	{secrets.NPM, "//registry.npmjs.org/:", "_authToken~=npm_Ab3dEf6hIj9lMn2pQr5tUv8xYz1234567890", "\n"},
	{secrets.NPM, " ", "npm~_Ab3dEf6hIj9lMn2pQr5tUv8xYz1234567890", "\n"},
	{secrets.PyPI, "password = ", "pypi~-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDA", "\n"},
	{secrets.JWT, "Bearer ", "eyJ~hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P", ""},
	{secrets.PrivateKey, "", "-----BEGIN~ RSA PRIVATE KEY-----\n" + row + "\n" + row + "\n-----END RSA PRIVATE KEY-----", "\nrest"},
	{secrets.PrivateKey, "KEY=\"", `-----BEGIN~ PRIVATE KEY-----\nMIICANARY\n-----END PRIVATE KEY-----`, `\n"`},
	{secrets.PrivateKey, "     1\t", "-----BEGIN~ OPENSSH PRIVATE KEY-----\n     2\t" + row + "\n     3\t" + row + "\n     4\t-----END OPENSSH PRIVATE KEY-----", "\n"},
	{secrets.PrivateKey, "cut: ", "-----BEGIN~ EC PRIVATE KEY-----\n" + row + "\n" + row, "}"},
	{secrets.PrivateKey, "", "-----BEGIN~ PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2 (GNU/Linux)\n\n" + row + "\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----", ""},
	{secrets.URLPassword, "postgres://app:", "s3~cr3t-canary", "@db.example:5432/app"},
	{secrets.Netrc, "machine api.example\n  login ada\n  password ", "c4n~ary-word", "\n"},
	{secrets.Authorization, "> Authorization: Basic ", "YWRhOmNh~bmFyeS1wYXNzd29yZA==", "\r\n"},
	{secrets.Authorization, `"authorization": "Bearer `, "abc~DEF0123456789abcdef", `"`},
	{secrets.Env, "it says ", "correct-Horse-battery", ", twice"},
}

func detector() *secrets.Detector { return secrets.New("correct-Horse-battery", "correct-Horse") }

// SE02: each kind is found where it usually stands, and nothing beside it is lost.
func TestEachKindIsReplaced(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range canaries {
		seen[c.kind] = true
		before, secret, after := plain(c.before), plain(c.secret), plain(c.after)
		got := detector().Redact(before + secret + after)
		if want := before + secrets.Marker(c.kind) + after; got != want {
			t.Errorf("%s: %q, want %q", c.kind, got, want)
		}
	}
	for _, kind := range secrets.Kinds() {
		if !seen[kind] {
			t.Errorf("no canary of the kind %s", kind)
		}
	}
}

// What only looks like a credential stays as it is, or code could not be read and edited.
func TestWordsStay(t *testing.T) {
	for _, text := range []string{
		`class="sk-fading-circle sk-circle-fade-dot"`, "task-0123456789abcdef0123", "disk-Usage-0123456789abcdef", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"sk-XXXXXXXXXXXXXXXXXXXXXXXX", "npm_config_cache=/tmp/npm_0", "hf_hub_download(repo)", "pypi-publish-action-for-all-of-our-own-packages",
		"AKIA", "BAKIAIOSFODNN7EXAMPLE0", "secret := os.Getenv(name)", "client_secret = get_secret(client_secret_name_of_the_application_here)",
		`if strings.Contains(pem, "-----BEGIN RSA PRIVATE KEY-----") { return errors.New("a key") }`,
		"-----BEGIN PRIVATE KEY-----\n" + "${KEY}\n-----END PRIVATE KEY-----", "-----BEGIN CERTIFICATE-----\n" + row + "\n-----END CERTIFICATE-----",
		"http://127.0.0.1:8080/a@b", "https://user@host/", "postgres://postgres:postgres@localhost/db", "mysql://root:${PASS}@db/", "amqp://guest:guest@q", "redis://:********@h/",
		"the machine learning login password of nobody", "machine x login y password $PW", "authorization: required", "Authorization: Bearer $TOKEN_FROM_ENVIRONMENT",
		"eyJ.eyJ.x", "keyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN", "_authToken=${NPM_TOKEN_OF_THE_USER}", "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		secrets.Marker(secrets.OpenAI), "",
	} {
		if got := detector().Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Law: what is redacted holds none of the canaries, keeps the words round them, and is redacted no further.
func TestTextsOfManyCanaries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text, want strings.Builder
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(canaries)-1), 1, 6).Draw(t, "canaries") {
			c := canaries[i]
			words := rapid.StringMatching(`[a-z \n]{0,12};`).Draw(t, "words")
			text.WriteString(words + "\n" + plain(c.before+c.secret+c.after) + "\n\"")
			want.WriteString(words + "\n" + plain(c.before) + secrets.Marker(c.kind) + plain(c.after) + "\n\"")
		}
		got := detector().Redact(text.String())
		if got != want.String() {
			t.Fatalf("%q, want %q", got, want.String())
		}
		if again := detector().Redact(got); again != got {
			t.Fatalf("redacted again: %q", again)
		}
	})
}

func TestMarkersAreKnown(t *testing.T) {
	if m, ok := secrets.Marked("a [redacted:kind] b " + secrets.Marker(secrets.JWT)); !ok || m != "[redacted:jwt]" {
		t.Errorf("%q %v", m, ok)
	}
	if m, ok := secrets.Marked("[redacted:kind] [redacted:"); ok {
		t.Errorf("%q is no marker", m)
	}
}

// The values of secret-looking variables are secrets; places, words and colony's own settings are none.
func TestEnviron(t *testing.T) {
	got := secrets.Environ([]string{
		"OPENAI_API_KEY=canary-1", "MY_TOKEN=short", "DB_PASSWORD=Tr0ub4dor&3", "KEY_ENV=OPENAI_API_KEY", "SSH_AUTH_SOCK=/tmp/agent.1", "APP_SECRET=development",
		"GOOGLE_APPLICATION_CREDENTIALS=/home/a/key.json", "TOKEN_URL=https://example.test/TOKEN", "SENTRY_DSN=https://abc123@sentry.example/1", "PATH=/usr/bin:/A1",
		"COLONY_X_KEY=abcdefgh1", "GITHUB_PAT=abcdefgh12", "EMPTY_KEY=", "NOEQUALS",
	})
	if want := "Tr0ub4dor&3 abcdefgh12 canary-1 https://abc123@sentry.example/1"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", strings.Join(got, " "), want)
	}
}

// FuzzRedact holds that findings lie in the text, in order and apart, and that redacting twice is redacting once.
func FuzzRedact(f *testing.F) {
	for _, c := range canaries {
		f.Add(plain(c.before + c.secret + c.after))
	}
	d := detector()
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, found := range d.Find(text) {
			if found.From < last || found.To <= found.From || found.To > len(text) {
				t.Fatalf("%+v in %d bytes after %d", found, len(text), last)
			}
			last = found.To
		}
		once := d.Redact(text)
		if twice := d.Redact(once); twice != once {
			t.Fatalf("%q became %q", once, twice)
		}
	})
}

// BenchmarkRedact shows the same speed for a small and a large text of a kind: also for texts made to be slow.
func BenchmarkRedact(b *testing.B) {
	d := detector()
	for name, unit := range map[string]string{
		"code": "func (s *server) handle(w http.ResponseWriter, r *http.Request) error { return s.next(w, r, nil) } // serves one\n",
		"keys": "OPENAI_API_KEY=" + plain(canaries[0].secret) + " and words between them that nobody would take for one\n",
		"sk":   "sk-", "pem": plain("-----BEGIN~ PRIVATE KEY-----"), "url": "a://a:", "machine": "machine ", "authorization": "authorization ", "secret": "secret", "jwt": " eyJ", "horse": "correct-Hors",
	} {
		for _, size := range []int{64 << 10, 4 << 20} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(name+"/"+map[bool]string{true: "64K", false: "4M"}[size < 1<<20], func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					d.Redact(text)
				}
			})
		}
	}
}
