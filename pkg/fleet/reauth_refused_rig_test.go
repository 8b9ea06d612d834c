package fleet_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// loginClient is a client that says of its login what a file does where it has no
// token, and shows a screen that goes by whether it has.
const loginClient = `#!/bin/sh
case $1 in
auth) if [ -n "$CLAUDE_CODE_OAUTH_TOKEN" ] && [ ! -e "$HOME/key" ]; then echo '{"loggedIn": true, "authMethod": "oauth_token"}'; else cat "$HOME/login"; fi; exit ;;
-p) cat "$HOME/tried"; exit 1 ;;
esac
echo started >> "$HOME/boots"
stty -echo
screen=$HOME/without; [ -z "$CLAUDE_CODE_OAUTH_TOKEN" ] || screen=$HOME/with
printf '\033[?1049h\033[H'; cat "$screen"; printf '\033[38;3H'
while :; do sleep 100; done
`

// TestReauthRefused goes through what is refused, what is left alone, and what is
// done all the same when that is asked for.
func TestReauthRefused(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "here", Local: true, NoClient: true, Env: []string{"CLAUDE_CODE_OAUTH_TOKEN"}})
	h := r.Host("here")
	p := person{t, r, h}
	put := func(name, text string) { must(p, os.WriteFile(filepath.Join(h.Home, name), []byte(text), 0o600)) }
	shows := func(file, screen string) {
		raw, err := os.ReadFile("../detect/testdata/screens/2.1.332-120x40/" + screen + ".ansi")
		must(p, err)
		put(file, string(bytes.TrimRight(raw, "\n")))
	}
	bin := filepath.Join(filepath.Dir(h.Home), "bin", "claude")
	must(p, os.WriteFile(bin, []byte(loginClient), 0o700))
	env := filepath.Join(h.Home, fleet.EnvFile)
	f := open(t, r, fleet.WithTimeout(drawn))
	tok := token(t, goodToken)
	const none, full, key = `{"loggedIn": false, "authMethod": "none"}`, `{"loggedIn": true, "authMethod": "claude.ai"}`, `{"loggedIn": true, "authMethod": "api_key", "apiKeySource": "ANTHROPIC_API_KEY"}`
	const works, refused = `{"is_error": false}`, `{"is_error": true, "api_error_status": 401, "result": "API Error: 401 no\u001b[31m sk-ant-oat01-shown"}`
	unauth, ready := "unauth-401", "ready-accept-edits"
	for _, tt := range []struct {
		name         string
		login, tried string
		before       string // the screen of the session; empty for none
		with         string // the screen with the token
		prepare      func()
		o            fleet.ReauthOptions
		class        fleet.Class // of the error; 0 for none
		says         string      // in the error, or in a note
		did          string
		written      bool
		state        detect.State
	}{
		{"a full login", full, works, unauth, ready, nil, fleet.ReauthOptions{}, fleet.ClassRefused, "good for inference only", "", false, detect.Unauth},
		{"a key", key, works, unauth, ready, nil, fleet.ReauthOptions{}, fleet.ClassRefused, "api_key from ANTHROPIC_API_KEY", "", false, detect.Unauth},
		{"a client that says nothing", "what?", works, unauth, ready, nil, fleet.ReauthOptions{}, fleet.ClassRefused, "could not be told", "", false, detect.Unauth},
		{"a token that is refused", none, refused, unauth, ready, nil, fleet.ReauthOptions{}, fleet.ClassFailed, "the token is refused (API Error: 401 no", "", false, detect.Unauth},
		{"a link", none, works, unauth, ready, func() {
			must(p, os.MkdirAll(filepath.Dir(env), 0o700))
			must(p, os.Symlink("/dev/null", env))
		}, fleet.ReauthOptions{}, fleet.ClassRefused, "is a link, and nothing is written there", "", false, detect.Unauth},
		{"a session that runs", none, works, ready, ready, nil, fleet.ReauthOptions{}, 0, "runs on with the login that it has", "wrote", true, detect.Ready},
		{"no session", none, works, "", ready, nil, fleet.ReauthOptions{}, 0, "", "wrote", true, detect.Down},
		{"one that heals", none, works, unauth, ready, nil, fleet.ReauthOptions{}, 0, "", "wrote,ended,relaunched", true, detect.Ready},
		{"one that does not", none, works, unauth, unauth, nil, fleet.ReauthOptions{}, fleet.ClassFailed, "and yet the session reads unauth", "wrote,ended,relaunched", true, detect.Unauth},
		{"a service that is down", none, `{"is_error": true, "api_error_status": 529, "result": "overloaded"}`, unauth, ready, nil, fleet.ReauthOptions{}, 0, "could not be tried there: overloaded", "wrote,ended,relaunched", true, detect.Ready},
		{"a full login, all the same", full, works, ready, ready, nil, fleet.ReauthOptions{Force: true, Restart: true}, 0, "", "wrote,ended,relaunched", true, detect.Ready},
		{"a key, all the same", key, works, ready, ready, func() { put("key", "") }, fleet.ReauthOptions{Force: true}, fleet.ClassFailed, "goes by another login: api_key", "wrote", true, detect.Ready},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.t = t
			_, _ = h.Tmux(t.Context(), "kill-server")
			must(p, os.RemoveAll(filepath.Join(h.Home, ".config")))
			must(p, os.RemoveAll(filepath.Join(h.Home, "key")))
			put("login", tt.login+"\n")
			put("tried", tt.tried+"\n")
			shows("with", tt.with)
			if tt.before != "" {
				shows("without", tt.before)
				for range f.Up(t.Context(), f.Table().Hosts...) {
				}
			}
			if tt.prepare != nil {
				tt.prepare()
			}
			tt.o.Token = tok
			res := reauth(t, f, tt.o, "here")["here"]
			said := strings.Join(res.Notes, "; ")
			if res.Err != nil {
				said += res.Err.Error() + fleet.HintOf(res.Err)
			}
			if fleet.ClassOf(res.Err) != tt.class || !strings.Contains(said, tt.says) || tt.says == "" && said != "" || strings.Contains(said, "sk-ant") || strings.Contains(said, "\x1b") {
				t.Errorf("%v: %s", fleet.ClassOf(res.Err), said)
			}
			var did []string
			for _, d := range res.Did {
				word, _, _ := strings.Cut(d, " ")
				did = append(did, word)
			}
			if strings.Join(did, ",") != tt.did || res.Status.State != tt.state {
				t.Errorf("did %q, and it is %s", res.Did, describe(res.Status))
			}
			raw, _ := os.ReadFile(env)
			if strings.Contains(string(raw), goodToken) != tt.written {
				t.Errorf("the file holds %q", raw)
			}
		})
	}
}
