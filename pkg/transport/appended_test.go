package transport

import (
	"strings"
	"testing"
)

// TestPlainPath takes off what Run has appended, and nothing else.
func TestPlainPath(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"/usr/bin:/bin", "/usr/bin:/bin"},
		{"/usr/local/bin:/usr/bin:/bin", "/usr/local/bin:/usr/bin:/bin"},
		{"/usr/bin:/bin:/opt/homebrew/bin", "/usr/bin:/bin:/opt/homebrew/bin"},
	} {
		t.Setenv("PATH", c.given)
		p := newPool(t, Options{})
		res, err := p.Conn(Endpoint{Local: true}).Run(t.Context(), Script{Text: PlainPath() + "printf '%s\\n%s' \"$fleet_plain\" \"$PATH\"\n"})
		if err != nil {
			t.Fatal(err)
		}
		plain, all, _ := strings.Cut(string(res.Stdout), "\n")
		if plain != c.want || len(all) <= len(plain) {
			t.Errorf("%q became %q, of %q", c.given, plain, all)
		}
	}
}
