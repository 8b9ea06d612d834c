package transport

import "testing"

// TestAnyLogin leaves of a login what tells where it is from, and of all else everything.
func TestAnyLogin(t *testing.T) {
	for in, want := range map[string]string{
		"SSH_CONNECTION=192.0.2.1 1234 192.0.2.2 22": "SSH_CONNECTION=192.0.2.1 0 192.0.2.2 22",
		"SSH_CLIENT=fe80::1%eth0 1234 22":            "SSH_CLIENT=fe80::1%eth0 0 22",
		"SSH_TTY=/dev/pts/7":                         "SSH_TTY=/dev/tty",
		"SSH_TTY=":                                   "SSH_TTY=",
		"SSH_TTY":                                    "SSH_TTY",
		"SSH_CLIENT=made up":                         "SSH_CLIENT=made up",
		"SSH_CONNECTION=":                            "SSH_CONNECTION=",
		"SSH_AUTH_SOCK=/a b c":                       "SSH_AUTH_SOCK=/a b c",
		"OTHER=a b c d":                              "OTHER=a b c d",
	} {
		if got := AnyLogin(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
