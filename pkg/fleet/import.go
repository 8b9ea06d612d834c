package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Import is one alias of ssh_config as a host of a fleet table.
type Import struct {
	Host  Host   `json:"host"`
	Where string `json:"where"` // the file and line of the alias
	// Address is user@hostname:port as resolved, or empty where that failed.
	Address string `json:"address"`
	// Skip is why the host should not be in the table as it is; empty if it may.
	Skip string `json:"skip"`
}

// ImportSSH makes hosts of the aliases in ssh_config, in the order in which they
// stand there: in the user's file, or in sshConfig where that is not empty. An
// alias that names a machine a second time, logs in as "git" as to a forge, or
// can't be resolved is marked by Skip. It connects to nothing. That there is no
// alias is an *Error of ClassFailed, a bad file one of ClassUsage.
func (f *Fleet) ImportSSH(ctx context.Context, sshConfig string) ([]Import, error) {
	if sshConfig != "" {
		// A fleet.conf may lie in another folder.
		abs, err := filepath.Abs(sshConfig)
		if err != nil {
			return nil, &Error{Class: ClassFailed, Msg: "ssh_config: " + systemReason(err), Err: err}
		}
		if sshConfig = abs; !exists(abs) {
			return nil, &Error{Class: ClassUsage, Msg: "ssh_config: " + printable(abs) + ": no such file", Hint: "name another, or none for ~/.ssh/config"}
		}
	}
	aliases, err := transport.Aliases(sshConfig)
	if err != nil {
		return nil, &Error{Class: ClassUsage, Msg: "ssh_config: " + cause(err), Hint: HintOf(err), Err: err}
	}
	if len(aliases) == 0 {
		return nil, &Error{Class: ClassFailed, Msg: "ssh_config names no host: it has no Host line without wildcards, or is not there",
			Hint: "write a fleet.conf by hand; fleet.conf.example shows how"}
	}
	imports := make([]Import, len(aliases))
	hosts := make([]Host, len(aliases))
	at := map[string]int{}
	for i, a := range aliases {
		name := labelFor(a.Name, imports[:i])
		hosts[i] = Host{
			Name: name, Workdir: DefaultWorkdir, Transport: TransportSSH, SSH: a.Name,
			Session: DefaultSession, Command: DefaultCommand, Timeout: DefaultTimeout, SSHConfig: sshConfig,
		}
		imports[i] = Import{Host: hosts[i], Where: fmt.Sprintf("%s:%d", a.File, a.Line)}
		at[name] = i
	}
	// Several commands of ssh_config may run; their answers come in any order.
	errs := make([]error, len(aliases))
	resolved := make([]*transport.SSHConfig, len(aliases))
	for r := range f.Resolve(ctx, hosts...) {
		resolved[at[r.Host.Name]], errs[at[r.Host.Name]] = r.SSH, r.Err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	first := map[string]string{}
	for i := range imports {
		imp, c := &imports[i], resolved[i]
		if f := checkTarget(imp.Host.SSH); f != nil {
			imp.Skip = f.msg
			continue
		}
		if errs[i] != nil || c == nil {
			imp.Skip = "it can't be resolved: " + cause(errs[i])
			continue
		}
		imp.Address = fmt.Sprintf("%s@%s:%d", c.User, c.HostName, c.Port)
		machine := strings.ToLower(imp.Address) + " " + c.ProxyJump + " " + c.ProxyCommand
		switch {
		case c.User == "git":
			imp.Skip = "a git server, by its user"
		case first[machine] != "":
			imp.Skip = "the same machine as " + first[machine]
		default:
			first[machine] = imp.Host.Name
		}
	}
	return imports, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// labelFor makes the name of a host from an alias, which may hold what a name
// may not, and makes it unlike those before it.
func labelFor(alias string, before []Import) string {
	name := nameFor("/" + strings.ReplaceAll(alias, "/", "-"))
	name = name[:min(len(name), maxNameBytes-4)] // room for a number
	taken := func(s string) bool {
		return slices.ContainsFunc(before, func(i Import) bool { return i.Host.Name == s })
	}
	label := name
	for n := 2; taken(label); n++ {
		label = fmt.Sprintf("%s-%d", name, n)
	}
	return label
}

// ImportTOML writes hosts of ImportSSH as a fleet.conf. Those to be skipped stand
// there as comments.
func ImportTOML(imports []Import) string {
	var b strings.Builder
	b.WriteString("# Hosts of ssh_config. Keep those that are to run a session, and give each its\n# project and workdir (~ is the host's own home).\n")
	for _, i := range imports {
		comment := ""
		if i.Skip != "" {
			comment = "# "
		}
		where := i.Where
		if i.Address != "" {
			where += ": " + i.Address
		}
		if i.Skip != "" {
			where += "; left out: " + i.Skip
		}
		fmt.Fprintf(&b, "\n# %s\n%s[hosts.%s]\n%sworkdir = %s\n", printable(where), comment, tomlKey(i.Host.Name), comment, tomlString(i.Host.Workdir))
		if i.Host.SSH != i.Host.Name {
			fmt.Fprintf(&b, "%sssh = %s\n", comment, tomlString(i.Host.SSH))
		}
		if i.Host.SSHConfig != "" {
			fmt.Fprintf(&b, "%sssh_config = %s\n", comment, tomlString(i.Host.SSHConfig))
		}
	}
	return b.String()
}
