package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// deadline bounds each look, however busy the machine.
const deadline = time.Minute

// place is a row of a fleet table.
type place struct {
	host, alias, session, folder string
}

// places are the endpoints' one session each.
func places(ends []*endpoint) []place {
	var all []place
	for _, e := range ends {
		all = append(all, place{e.name, e.name, "claude", folderOf("claude")})
	}
	return all
}

// table writes a fleet.conf and gives its path.
func (g *ground) table(name string, far bool, all []place) (string, error) {
	config, err := g.sshConfig(far)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[defaults]\ntimeout = %q\nssh_config = %q\n", deadline, config)
	for _, p := range all {
		fmt.Fprintf(&b, "\n[hosts.%s]\nssh = %q\nsession = %q\nworkdir = %q\n", p.host, p.alias, p.session, "~/"+p.folder)
	}
	path := filepath.Join(g.dir, name+".conf")
	return path, writeFile(path, []byte(b.String()))
}

// look has a fleet tell the status of all its hosts, and holds the answers to the
// truth.
func look(ctx context.Context, f *fleet.Fleet) error {
	n := 0
	for s := range f.Status(ctx) {
		if err := right(s); err != nil {
			return err
		}
		n++
	}
	if want := len(f.Table().Hosts); n != want {
		return fmt.Errorf("%d hosts answered of %d", n, want)
	}
	return nil
}

// right is the error of a status that is not the truth.
func right(s fleet.Status) error {
	switch {
	case s.Err != nil:
		return s.Err
	case s.State != detect.Ready:
		return fmt.Errorf("%s: %s by rule %s, want ready: %s", s.Host.Name, s.State, s.Rule, s.Why)
	case s.Git == nil || s.Git.Branch != "main" || s.Git.Dirty != 0 || s.Git.LastCommit == nil:
		return fmt.Errorf("%s: git %+v", s.Host.Name, s.Git)
	case s.Disk == nil:
		return fmt.Errorf("%s: no disk", s.Host.Name)
	}
	return nil
}

// coldLook looks by a fleet of its own.
func coldLook(table string) func(context.Context) (cost, error) {
	return func(ctx context.Context) (cost, error) {
		return within(func() error {
			f, err := fleet.Load(table)
			if err != nil {
				return err
			}
			err = look(ctx, f)
			return errors.Join(err, f.Close())
		})
	}
}

// warmLook looks by a fleet that stays.
func warmLook(f *fleet.Fleet) func(context.Context) (cost, error) {
	return func(ctx context.Context) (cost, error) {
		return within(func() error { return look(ctx, f) })
	}
}

// programEnv is the environment of the program. runtime is the folder of the server
// whose connections it is to use; where it is empty it uses none.
func programEnv(runtime string) []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "XDG_RUNTIME_DIR=") || strings.HasPrefix(e, "CLAUDE_FLEET_")
	})
	if runtime == "" {
		return append(env, "CLAUDE_FLEET_SERVE=off")
	}
	return append(env, "XDG_RUNTIME_DIR="+runtime)
}

// runLook looks by the program, as a process of its own.
func (g *ground) runLook(table, runtime string, hosts ...string) func(context.Context) (cost, error) {
	args := append([]string{"--config", table, "--batch", "status", "--json"}, hosts...)
	return func(ctx context.Context) (cost, error) {
		c, out, err := command(ctx, programEnv(runtime), g.binary, args...)
		if err != nil {
			return c, err
		}
		var all []struct {
			Host, State string
			Git, Disk   *struct{}
		}
		if err := json.Unmarshal(out, &all); err != nil {
			return c, fmt.Errorf("status --json: %w", err)
		}
		for _, s := range all {
			if s.State != "ready" || s.Git == nil || s.Disk == nil {
				return c, fmt.Errorf("status --json: %s: %s, git %v, disk %v", s.Host, s.State, s.Git != nil, s.Disk != nil)
			}
		}
		if len(all) == 0 {
			return c, errors.New("status --json: no host")
		}
		return c, nil
	}
}
