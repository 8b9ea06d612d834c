package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// reauthing is the giving of a token to one host.
type reauthing struct {
	f   *Fleet
	h   Host
	o   ReauthOptions
	out ReauthResult
	// mute says that the client there can't be asked, since what the host's command
	// calls is another program.
	mute bool
	// wrote says that EnvFile is another than before.
	wrote bool
}

// run does it; what became of it is in out.
func (r *reauthing) run(ctx context.Context) {
	limited, cancel := r.f.conns.WithTimeout(ctx, reauthLimit)
	defer cancel()
	s := r.look(limited)
	if r.out.Err = s.Err; s.Err != nil {
		return
	}
	steps := []func(context.Context) error{r.allowed, r.try, r.write}
	if r.o.Remove {
		steps = []func(context.Context) error{r.remove}
	} else if r.o.Token.IsZero() {
		r.out.Err = &Error{Class: ClassUsage, Host: r.h.Name, Msg: "there is no token to give"}
		return
	}
	for _, step := range steps {
		if r.out.Err = step(limited); r.out.Err != nil {
			return
		}
	}
	asked := r.restart(ctx)
	if r.o.Remove {
		r.out.Err = asked
		return
	}
	if r.out.Err = r.prove(ctx); r.out.Err == nil {
		r.out.Err = asked
	}
}

// look probes the host anew.
func (r *reauthing) look(ctx context.Context) seen {
	s := r.f.probeOne(ctx, r.h)
	r.out.Status = s.Status
	return s
}

func (r *reauthing) fail(class Class, msg, hint string) error {
	s := r.out.Status
	return &Error{Class: class, Host: r.h.Name, State: s.State, Rule: s.Rule, Msg: msg, Hint: hint}
}

// failed is failed without what a host's shell, if it tells of each step, may have
// said of the token.
func (r *reauthing) failed(doing string, err error) error {
	err = failed(r.h.Name, doing, err)
	if e := (*Error)(nil); errors.As(err, &e) {
		e.Msg = Redact(e.Msg)
	}
	return err
}

// ask has the client on the host answer, in that environment.
func (r *reauthing) ask(ctx context.Context, token Token, environment, arguments string, into any) (code int, err error) {
	nonce := initNonce()
	res, err := r.f.conn(r.h).Run(ctx, transport.Script{Text: askClient(r.h, nonce, token, environment, arguments), Repeatable: true, Alone: true})
	if err != nil {
		return 0, r.failed("asking the client there", err)
	}
	return clientAnswer(res.Stdout, nonce, into)
}

// allowed refuses a host with a login of its own, and one that can't be written on.
func (r *reauthing) allowed(ctx context.Context) error {
	res, err := r.f.conn(r.h).Run(ctx, transport.Script{Text: envPlace + "place\n", Repeatable: true})
	if err != nil {
		return r.failed("looking at what is there", err)
	}
	if why, bad := strings.CutPrefix(strings.TrimSpace(string(res.Stdout)), "bad "); bad {
		return r.inTheWay(why)
	}
	over := "to give it the token all the same (--remove undoes that): claude-fleet reauth --force " + r.h.Name
	if _, _, ok := clientCall(r.h.Command); !ok {
		r.mute = true
		if !r.o.Force {
			return r.fail(ClassRefused, "not given the token: its command calls the client by way of something else ("+cut(neutral(r.h.Command), 60)+"), so that it can't be asked whether a full login is there; nothing was changed",
				"a box with a full login must not be given one; "+over)
		}
		r.out.Notes = append(r.out.Notes, "its command calls the client by way of something else: the token was not tried, and the client not asked for its login")
		return nil
	}
	var a authStatus
	code, err := r.ask(ctx, Token{}, "", "auth status --json", &a)
	if fe := (*Error)(nil); errors.As(err, &fe) {
		return err
	}
	if code == exitNotFound {
		return r.fail(ClassFailed, "there is no "+printable(programOf(r.h.Command))+" on the PATH of a login shell there (one that is not interactive), to be asked for its login; nothing was changed", "see what is missing with: claude-fleet doctor "+r.h.Name+"; or name the client by its path, with command in fleet.conf")
	}
	if r.o.Force {
		return nil
	}
	switch {
	case err != nil:
		return r.fail(ClassRefused, "not given the token: whether a full login is there could not be told ("+err.Error()+"); nothing was changed", "a box with a full login must not be given one; "+over)
	case a.Method == "claude.ai":
		return r.fail(ClassRefused, "not given the token: there is a full login, and while the token is there the client uses that instead, which is good for inference only: what needs a full login would reject it; nothing was changed",
			"where that login has run out, renew it: claude-fleet attach "+r.h.Name+", then /login; "+over)
	case a.LoggedIn || a.Method != "none":
		what := neutral(a.Method)
		if a.KeySource != "" {
			what += " from " + neutral(a.KeySource)
		}
		return r.fail(ClassRefused, "not given the token: another login is there ("+cut(what, 80)+"), which may go before it; nothing was changed", "take that out there; or, "+over)
	}
	return nil
}

func (r *reauthing) inTheWay(why string) error {
	return r.fail(ClassRefused, cut(neutral(why), 120)+", and nothing is written there", "look at it with: "+r.h.there("ls -ld "+tokenFolder+" "+tokenFile)+"; move it away there, then run this again")
}

// try has the service judge the token, before anything is changed for it.
func (r *reauthing) try(ctx context.Context) error {
	if r.mute {
		return nil
	}
	var t tried
	_, err := r.ask(ctx, r.o.Token, askWith, tryArguments, &t)
	said := cut(Redact(neutral(t.Result)), 200)
	switch fe := (*Error)(nil); {
	case errors.As(err, &fe):
		return err
	case err != nil:
		r.out.Notes = append(r.out.Notes, "the token could not be tried there: "+err.Error())
	case t.refused():
		return r.fail(ClassFailed, "the token is refused ("+said+"); nothing was changed there", "have a new one made: claude-fleet reauth "+r.h.Name)
	case !t.works():
		r.out.Notes = append(r.out.Notes, "the token could not be tried there: "+said)
	}
	return nil
}

// change runs a script that changes EnvFile and gives the last word that it says.
func (r *reauthing) change(ctx context.Context, doing, script string) (string, error) {
	res, err := r.f.conn(r.h).Run(ctx, transport.Script{Text: script, Finish: true})
	if err != nil {
		return "", r.failed(doing, err)
	}
	said := strings.TrimSpace(string(res.Stdout))
	if why, bad := strings.CutPrefix(said, "bad "); bad {
		return "", r.inTheWay(why)
	}
	if res.ExitCode != 0 || said == "" {
		return "", r.fail(ClassFailed, fmt.Sprintf("%s: exit code %d: %s", doing, res.ExitCode, cut(Redact(neutral(strings.TrimSpace(string(res.Stderr)))), 200)),
			"see what is amiss with: claude-fleet doctor "+r.h.Name)
	}
	return said, nil
}

func (r *reauthing) write(ctx context.Context) error {
	said, err := r.change(ctx, "writing ~/"+EnvFile, writeEnv(r.o.Token, r.out.Status.State == detect.Unauth))
	if r.wrote = said == "written"; r.wrote {
		r.out.Did = append(r.out.Did, "wrote the token to ~/"+EnvFile)
	}
	return err
}

func (r *reauthing) remove(ctx context.Context) error {
	said, err := r.change(ctx, "taking the token out of ~/"+EnvFile, removeEnv)
	if r.wrote = said == "removed"; r.wrote {
		r.out.Did = append(r.out.Did, "took the token out of ~/"+EnvFile)
	}
	return err
}

// restart restarts the session where that is asked for, or heals it and is in
// nobody's way. The error is that it should have been and was not.
func (r *reauthing) restart(ctx context.Context) error {
	s := r.look(ctx) // the asking took its time
	if s.Err != nil {
		return s.Err
	}
	heals := s.State == detect.Unauth && !(r.o.Remove && !r.wrote)
	why := ""
	switch {
	case s.Attached > 0:
		why = "somebody is attached to it"
	case s.Draft != "":
		why = "somebody's draft is in its input box"
	}
	switch {
	case r.o.Restart, heals && why == "":
		return r.restartSession(ctx)
	case heals:
		return r.fail(ClassNeedsPerson, "the session was not restarted, since "+why+": it goes on with the login that it has", "restart it with: claude-fleet restart "+r.h.Name)
	case (r.wrote || s.behind) && s.State != detect.Down && s.State != detect.Crashed:
		r.out.Notes = append(r.out.Notes, "the session runs on with the login that it has; to restart it: claude-fleet restart "+r.h.Name)
	}
	return nil
}

// restartSession is the restart; without Restart it leaves alone what somebody is at
// by now.
func (r *reauthing) restartSession(ctx context.Context) error {
	up := r.f.restartOne(ctx, r.h, RestartOptions{Force: r.o.Restart}, newStarts())
	r.out.Status = up.Status
	r.out.Did, r.out.Notes = append(r.out.Did, up.Did...), append(r.out.Notes, up.Notes...)
	if up.Status.State == detect.Unauth { // what that means is for prove to say
		return nil
	}
	return up.Err
}

// prove asks the client as it is launched now, and holds the state to it.
func (r *reauthing) prove(ctx context.Context) error {
	ctx, cancel := r.f.conns.WithTimeout(ctx, reauthLimit)
	defer cancel()
	if r.mute {
		return r.healed()
	}
	var a authStatus
	_, err := r.ask(ctx, Token{}, launchEnv, "auth status --json", &a)
	if fe := (*Error)(nil); errors.As(err, &fe) {
		return err
	}
	if r.out.Auth = cut(neutral(a.Method), 40); err != nil {
		return r.fail(ClassFailed, "the token is there, and the client doesn't say whether it has it: "+err.Error(), "see what is amiss with: claude-fleet doctor "+r.h.Name)
	}
	if !a.LoggedIn || a.Method != "oauth_token" {
		return r.fail(ClassFailed, "the token is there, and the client goes by another login: "+r.out.Auth, "a key or a helper that its settings or its profile there name goes before the token: take that out there")
	}
	return r.healed()
}

// healed holds the state to it that the session was launched with the token.
func (r *reauthing) healed() error {
	if r.out.Status.State == detect.Unauth && r.restarted() {
		return r.fail(ClassFailed, "the token is there, and yet the session reads unauth ("+r.out.Status.Why+")", "see its screen with: claude-fleet attach "+r.h.Name)
	}
	return nil
}

// restarted tells whether the session was launched anew.
func (r *reauthing) restarted() bool {
	for _, d := range r.out.Did {
		if strings.HasPrefix(d, "relaunched") || strings.HasPrefix(d, "started") {
			return true
		}
	}
	return false
}
