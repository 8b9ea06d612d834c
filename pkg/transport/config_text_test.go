package transport

import (
	"net"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// slowMatch is matchPattern by another way.
func slowMatch(s, pattern string) bool {
	var b strings.Builder
	for _, c := range []byte(pattern) {
		switch c {
		case '*':
			b.WriteString("(?s:.*)")
		case '?':
			b.WriteString("(?s:.)")
		default:
			b.WriteString(regexp.QuoteMeta(string(rune(c))))
		}
	}
	wide := func(s string) string { // one rune for each byte
		var r []rune
		for _, c := range []byte(s) {
			r = append(r, rune(c))
		}
		return string(r)
	}
	return regexp.MustCompile(`\A` + b.String() + `\z`).MatchString(wide(s))
}

func TestMatchList(t *testing.T) {
	for _, tc := range []struct {
		s, patterns string
		want        bool
	}{
		{"box", "box", true}, {"box", "BOX", false}, {"box", "bo?", true}, {"box", "box?", false}, {"box", "b*x", true}, {"box", "b*y", false},
		{"box", "web,box", true}, {"box", "web,db", false}, {"box", "*,!box", false}, {"box", "!box,*", false}, {"box", "!web", false},
		{"box", "!web,*", true}, {"", "", true}, {"", "*", true}, {"", "?", false}, {"box", "", false}, {"box", "box, web", true}, {"web", "box, web", false},
		{strings.Repeat("a", 10000), strings.Repeat("*a", 100) + "b", false},
	} {
		if got := matchList(tc.s, tc.patterns); got != tc.want {
			t.Errorf("%q, %q: got %t", tc.s, tc.patterns, got)
		}
	}
}

func FuzzMatchPattern(f *testing.F) {
	for _, s := range []string{"box", "b*x", "?", "**a?", "é", ""} {
		f.Add("box", s)
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, s, pattern string) {
		if len(s) > 200 || len(pattern) > 50 {
			return
		}
		if got, want := matchPattern(s, pattern), slowMatch(s, pattern); got != want {
			t.Fatalf("%q, %q: got %t", s, pattern, got)
		}
	})
}

// FuzzConfigFile throws text at the reader without an ssh binary: it must not
// panic, and what it takes must come out whole.
func FuzzConfigFile(f *testing.F) {
	for _, c := range slices.Concat(lineCases, hostCases, fileCases) {
		f.Add(c.text)
	}
	f.Add("Match host a user b final\nPort 1\nSetEnv A='#\\\\'\n")
	f.Fuzz(func(t *testing.T, text string) {
		if low := strings.ToLower(text); strings.Contains(low, "exec") || strings.Contains(low, "include") {
			return // runs commands and reads files
		}
		file := t.TempDir() + "/config"
		write(t, file, text)
		k := configKey{target: target{host: "box"}}
		r, err := resolveByFile(within(t, 20*time.Second), []configSource{{path: file, user: true}}, k)
		if err != nil {
			return
		}
		s, err := settingsFrom(r, k.target)
		if err == nil && (s.port < 1 || s.port > 65535 || s.user == "" || s.host == "" || len(s.ciphers) == 0) {
			t.Fatalf("%+v", s)
		}
	})
}

func FuzzSplitArgs(f *testing.F) {
	for _, s := range []string{"a b", `"a b" c`, `'a"b' \"c # d`, `a\ b`, `\`, `"`, "a#b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _, _ = keywordOf(s)
		_, _ = matchWords(s)
		args, err := splitArgs(s)
		if err != nil {
			return
		}
		// Quoted anew, the words are the same.
		var again []string
		for _, a := range args {
			again = append(again, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(a)+`"`)
		}
		if got, err := splitArgs(strings.Join(again, " ")); err != nil || !slices.Equal(got, args) {
			t.Fatalf("%q: %q, then %q, %v", s, args, got, err)
		}
	})
}

// TestArmour has every byte survive the decoder that ends values at a #.
func TestArmour(t *testing.T) {
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	for _, value := range []string{string(all), "a#b", `"x"`, `"a" "b"`, "=x", " x ", "%41", "a=b", "\n", "é"} {
		f := &configFile{}
		lines := []*configLine{
			{file: f, known: byKeyword["user"], args: []string{value}},
			{file: f, known: byKeyword["proxycommand"], rest: "sh " + value + "x", args: []string{"sh"}},
		}
		d, err := decode(lines)
		if err != nil || !reflect.DeepEqual(d, dump{"user": {value}, "proxycommand": {"sh " + value + "x"}}) {
			t.Errorf("%q: got %q, %v", value, d, err)
		}
	}
}

// TestNewerCriteria are those that the installed ssh may not know.
func TestNewerCriteria(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil || len(addrs) == 0 {
		t.Fatal(addrs, err)
	}
	mine := addrs[0].(*net.IPNet).IP.String()
	for _, tc := range []struct {
		match string
		want  bool
	}{
		{"Tag red\nMatch tagged red", true}, {"Match tagged red\nTag red", false}, {"Tag red\nMatch tagged blue", false}, {"Tag red\nMatch !tagged blue", true},
		{"Tag red\nMatch tagged blue,r*", true}, {"Match localnetwork 198.51.100.77/32", false}, {"Match !localnetwork 198.51.100.77/32", true},
		{"Match localnetwork " + mine, true}, {"Match localnetwork 198.51.100.77/32,0.0.0.0/0,::/0", true}, {"Match localnetwork 0.0.0.0/0,::/0,!" + mine, false},
		{"Match sessiontype shell", true}, {"Match sessiontype exec", false}, {"SessionType none\nMatch sessiontype none", true},
		{"Match command x*", false}, {"Match !command x*", true},
	} {
		s, err := resolved(t, newPool(t, Options{SSHBinary: NoSSHBinary}), tc.match+"\n Port 7\n", "box")
		if err != nil || (s.port == 7) != tc.want || len(s.origin.warnings) > 0 {
			t.Errorf("%s: got %+v, %v", tc.match, s, err)
		}
	}
}

// TestLeftOut has a block that can't be evaluated left out with one warning if
// it decides nothing, and refused by file, line and criterion if it does.
func TestLeftOut(t *testing.T) {
	p := newPool(t, Options{SSHBinary: NoSSHBinary})
	for _, set := range []string{"User u", "HostName h", "Port 7", "ProxyJump j", "ProxyCommand c", "IdentityFile /i", "StrictHostKeyChecking no", "ForwardAgent no", "UserKnownHostsFile /k"} {
		_, err := resolved(t, p, "Match version x\n Compression yes\n "+set+"\n", "box")
		name, _, _ := strings.Cut(set, " ")
		if err == nil || err.Kind != KindConfig || !strings.Contains(err.Error(), ":1: Match: version "+cannot+", and the block sets "+name) {
			t.Errorf("%s: got %v", set, err)
		}
	}
	for _, text := range []string{
		"Match version x\n Compression yes\nHost *\n User u\n", "Match version x\n ConnectTimeout 3\n SendEnv A\nMatch final all\nUser u\n",
		"Match localnetwork bad\nMatch all\nUser u\n",
	} {
		s, err := resolved(t, p, text, "box")
		if err != nil || len(s.origin.warnings) != 1 || !strings.Contains(s.origin.warnings[0], ":1: this Match block is left out") || s.user != "u" || s.timeout != 0 {
			t.Errorf("%q: got %+v, %v", text, s, err)
		}
	}
	// Nothing hangs on these.
	for _, text := range []string{
		"Match originalhost other version x\n Compression yes\n Port 7\nHost *\n User u\n", "Match version x originalhost other\n Port 7\nMatch all\n User u\n",
		"Match !originalhost box version x\n Compression yes\nMatch all\n User u\n",
		"Host other\n Include " + fileOf(t, "Match version x", " Compression yes", "") + "\nHost *\n User u\n",
	} {
		s, err := resolved(t, p, text, "box")
		if err != nil || len(s.origin.warnings) != 0 || s.user != "u" || s.port != 22 {
			t.Errorf("%q: got %+v, %v", text, s, err)
		}
	}
	// And on these it does, or may: ssh refuses a criterion that is none.
	for _, text := range []string{
		"Match originalhost other bogus x\n Compression yes\n",
		"Match originalhost box version x\n Compression yes\n", "Match version x originalhost box\n Compression yes\n",
		"Host box\n Include " + fileOf(t, "Match version x", " Compression yes", "") + "\n",
	} {
		s, err := resolved(t, p, text, "box")
		if err != nil || len(s.origin.warnings) != 1 {
			t.Errorf("%q: got %+v, %v", text, s, err)
		}
	}
	if _, err := resolved(t, p, "CanonicalizeHostname always\n", "box"); err == nil || !strings.Contains(err.Error(), "CanonicalizeHostname") {
		t.Errorf("canonical names: %v", err)
	}
}
