package transport

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestEveryKeywordIsDecided walks all that ssh -G prints on this machine, and
// what newer versions have: what is in no table must be put into one by
// somebody who knows whether leaving it out does harm.
func TestEveryKeywordIsDecided(t *testing.T) {
	out, err := exec.Command("ssh", "-G", "-F", "none", "box").Output()
	if err != nil {
		t.Fatal(err)
	}
	d := parseDump(string(out))
	if len(d) < 60 {
		t.Fatalf("ssh -G printed only %d keywords", len(d))
	}
	for k := range d {
		if k != "host" && byKeyword[k] == nil {
			t.Errorf("ssh -G prints %s %q, of which the table knows nothing", k, d[k])
		}
	}
	// What nobody has set asks for nothing.
	if u := unhonoured(d, nil); len(u) > 0 {
		t.Errorf("the defaults of ssh are said not to be honoured: %q", u)
	}
	// ssh_config(5) from OpenSSH 9.3 to 10, and what ssh -G prints only if set.
	for name := range strings.FieldsSeq("Tag ChannelTimeout ObscureKeystrokeTiming VersionAddendum RefuseConnection WarnWeakCrypto " +
		"BindAddress BindInterface CertificateFile ControlPath DynamicForward HostKeyAlias IdentityAgent IgnoreUnknown KbdInteractiveDevices " +
		"KnownHostsCommand LocalCommand LocalForward PKCS11Provider PreferredAuthentications ProxyCommand ProxyJump RemoteCommand RemoteForward " +
		"RevokedHostKeys SetEnv SyslogFacility UseKeychain GSSAPIClientIdentity GSSAPIServerIdentity") {
		if byKeyword[strings.ToLower(name)] == nil {
			t.Errorf("the table knows nothing of %s", name)
		}
	}
	for i := range keywords {
		k := &keywords[i]
		if k.form == 0 || k.fate == 0 || (k.form == formChoice) != (k.values != "") || k.idle != "" && k.fate != named {
			t.Errorf("%+v is not decided", *k)
		}
	}
	if len(byKeyword) != len(keywords) {
		t.Error("a keyword is in the table twice")
	}
	for alias, name := range keywordAliases {
		if byKeyword[alias] != nil || name != "" && byKeyword[name] == nil {
			t.Errorf("the alias %s of %s", alias, name)
		}
	}
}

// TestNamedKeywords has each keyword that is not acted on named when it asks for
// something, and not when it says what ssh does anyhow.
func TestNamedKeywords(t *testing.T) {
	t.Setenv("KRB5CCNAME", "/tmp/ticket")
	for i := range keywords {
		k := &keywords[i]
		key, value := strings.ToLower(k.name), "yes"
		d := dump{key: {value}, "localcommand": {"x"}}
		if got := slices.Contains(unhonoured(d, nil), k.name); got != (k.fate == named) {
			t.Errorf("%s %s is named: %t", k.name, value, got)
		}
		for _, v := range strings.Split(k.idle, "|") {
			if got := unhonoured(dump{key: {v}, "localcommand": {"x"}}, nil); len(got) > 0 {
				t.Errorf("%s %q: %q", k.name, v, got)
			}
		}
	}
	if u := unhonoured(dump{"localforward": {"", "1 h:2"}, "permitlocalcommand": {"yes"}, "compression": {"NO"}}, nil); !slices.Equal(u, []string{"LocalForward"}) {
		t.Errorf("got %q", u)
	}
}

// TestTicket has GSSAPIAuthentication, which distributions set for everybody,
// named only to somebody who may have a ticket.
func TestTicket(t *testing.T) {
	d := dump{"gssapiauthentication": {"yes"}}
	t.Setenv("KRB5CCNAME", "/tmp/ticket")
	if u := unhonoured(d, nil); len(u) != 1 {
		t.Errorf("with a ticket: %q", u)
	}
	if u := unhonoured(d, &environment{vars: []string{"KRB5CCNAME="}}); len(u) != 0 && !hasTicket(&environment{}) {
		t.Errorf("with the ticket of this process, and not of whom it works for: %q", u)
	}
	t.Setenv("KRB5CCNAME", "")
	if u := unhonoured(d, &environment{vars: []string{"KRB5CCNAME=/tmp/ticket"}}); len(u) != 1 {
		t.Errorf("with the ticket of whom this process works for: %q", u)
	}
	if hasTicket(nil) { // the account that runs the test has one
		return
	}
	if u := unhonoured(d, nil); len(u) != 0 {
		t.Errorf("without a ticket: %q", u)
	}
}

func TestRefusedConnection(t *testing.T) {
	if err := refuseSettings(dump{"refuseconnection": {"moved to \x1b[1mweb"}}); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("got %v", err)
	}
	if err := refuseSettings(dump{"refuseconnection": {"none"}}); err != nil {
		t.Errorf("got %v", err)
	}
}
