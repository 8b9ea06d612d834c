package transport

import (
	"os"
	"strings"
	"testing"
)

// TestBanner has what a server says before the login shown where it may explain
// something, and nowhere else.
func TestBanner(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.stop()
	write(t, s.path("banner"), "Closed until 18:00.\r\nAsk \x1b[31mthe\x1b[0m owner.\n")
	s.config = append(s.config, "Banner "+s.path("banner"))
	s.start()
	const said = "the server says: Closed until 18:00.\nAsk ␛[31mthe␛[0m owner."

	t.Run("a login that is refused", func(t *testing.T) {
		newKey(t, s.path("stranger"))
		err := refusal(t, newPool(t, Options{}), s.endpoint("IdentityFile "+s.path("stranger"), "IdentitiesOnly yes", "User "+userName(t)+"x"), KindAuth)
		if !strings.HasSuffix(err.Hint, said) {
			t.Errorf("hint %q", err.Hint)
		}
	})
	t.Run("a login that is quick", func(t *testing.T) {
		p := says()
		succeed(t, newPool(t, p.options()), s.endpoint())
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.warned) > 0 {
			t.Errorf("told %q", p.warned)
		}
	})
	t.Run("a login that waits", func(t *testing.T) {
		// Here for a person, who has all the time until the banner shows.
		text, err := os.ReadFile(s.client)
		if err != nil {
			t.Fatal(err)
		}
		locked := s.path("locked")
		write(t, locked, string(text))
		lock(t, locked, "open sesame")
		p := &person{}
		p.answers = func(int, Question) (string, error) {
			eventually(t, "the banner shows", func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				return strings.Contains(strings.Join(p.warned, "\n"), said)
			})
			return "open sesame", nil
		}
		succeed(t, newPool(t, p.options()), s.only(locked))
	})
}
