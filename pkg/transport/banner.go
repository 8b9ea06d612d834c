package transport

import (
	"strings"
	"time"
)

const (
	// bannerPatience is how long a login may take before the user is shown what
	// the server says meanwhile: it may be what the login waits for, such as an
	// address to open. Of a login that is quick nobody wants to read it.
	bannerPatience = 2 * time.Second
	// maxBanner is how much of it is kept, in bytes.
	maxBanner = 2 << 10
)

// hear is the ssh.BannerCallback: it keeps what the server says before the login
// is through.
func (l *login) hear(message string) error {
	if room := maxBanner - len(l.said); room > 0 {
		l.said += message[:min(len(message), room)]
	}
	said := l.banner()
	if said == "" || l.heard || l.pool.warnsOf(l.ctx) == nil {
		return nil
	}
	l.heard = true
	l.pool.own(func() { // ends with the login
		t := time.NewTimer(bannerPatience)
		defer t.Stop()
		select {
		case <-t.C:
			l.pool.warn(l.ctx, l.e, said)
		case <-l.ctx.Done():
		}
	})
	return nil
}

// banner is what the server said, for a line of ours; empty if it was nothing.
func (l *login) banner() string {
	said := strings.TrimSpace(NeutraliseLines(strings.ReplaceAll(l.said, "\r\n", "\n")))
	if said == "" {
		return ""
	}
	return "the server says: " + said
}

// explain adds to an error of a login what the server said: it may be why.
func (l *login) explain(err *Error) *Error {
	if said := l.banner(); said != "" && err.Endpoint == l.e {
		told := *err // others may have the same one
		if told.Hint != "" {
			told.Hint += "\n"
		}
		told.Hint += said
		return &told
	}
	return err
}
