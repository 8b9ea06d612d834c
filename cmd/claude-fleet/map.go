package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func newMap(a *app) *cobra.Command {
	var form struct {
		toml, ssh, imports bool
		sshConfig          string
	}
	cmd := &cobra.Command{
		Use:   "map [host…|@tag…]",
		Short: "Show the fleet table as it was resolved",
		Long: `Map shows the fleet table as it was resolved: every default filled in. It connects
to no host.

With --toml it prints the table as a fleet.conf in TOML, whichever form it was
read from. With --ssh it shows what ssh_config makes of each host, where that was
read, and which keywords are set there but not acted on. With --import it prints a
fleet.conf of the aliases in ssh_config instead, to be pruned by hand; Match blocks
name no aliases.` + exitStatus(0, 1, 2),
		ValidArgsFunction: a.hostNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			switch {
			case form.toml && a.json, form.toml && form.ssh, form.toml && form.imports, form.ssh && form.imports, form.imports && a.json:
				return usagef("map: choose one of --toml, --ssh, --import and --json; only --ssh and --json go together")
			case form.sshConfig != "" && !form.imports:
				return usagef("map: --ssh-config goes with --import; for a host, set ssh_config in fleet.conf")
			case form.imports && len(names) > 0:
				return usagef("map: --import takes no host: it prints all aliases")
			case form.imports:
				return a.printImport(cmd.Context(), form.sshConfig)
			}
			return a.with(func(f *fleet.Fleet) error {
				hosts, err := f.Select(names...)
				if err != nil {
					return err
				}
				switch {
				case form.ssh:
					return a.printResolutions(cmd.Context(), f, hosts)
				case form.toml:
					table := fleet.Table{Path: f.Table().Path, Hosts: hosts}
					fmt.Fprint(a.out, table.TOML())
				case a.json:
					if hosts == nil {
						hosts = []fleet.Host{}
					}
					a.printJSON(hosts)
				default:
					a.printMap(hosts)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&form.toml, "toml", false, "print the table as TOML")
	cmd.Flags().BoolVar(&form.ssh, "ssh", false, "show what ssh_config makes of each host")
	cmd.Flags().BoolVar(&form.imports, "import", false, "print a fleet.conf of the aliases in ssh_config")
	cmd.Flags().StringVar(&form.sshConfig, "ssh-config", "", "with --import: read `FILE` in place of ~/.ssh/config")
	return cmd
}

func (a *app) printMap(hosts []fleet.Host) {
	rows := make([][]string, len(hosts))
	for i, h := range hosts {
		ssh := h.SSH
		if ssh == "" {
			ssh = "-"
		}
		rows[i] = []string{h.Name, h.Project, h.Transport, ssh, h.Session, h.Workdir, strings.Join(h.Tags, ",")}
	}
	// TRANSPORT says no more than SSH does, which is "-" for a local host.
	columns := []column{
		{head: "HOST", cut: cutApart(labels(hosts))},
		{head: "PROJECT", giveUp: 3},
		{head: "TRANSPORT", giveUp: 1},
		{head: "SSH", giveUp: 5, enough: 24, cut: cutMiddle},
		{head: "SESSION", giveUp: 4},
		{head: "WORKDIR", enough: 30, least: 1, cut: cutStart},
		{head: "TAGS", giveUp: 2},
	}
	for _, line := range layout(columns, rows, a.width()) {
		fmt.Fprintln(a.out, line)
	}
}

func (a *app) printImport(ctx context.Context, sshConfig string) error {
	f := fleet.New(&fleet.Table{}, a.options()...)
	defer func() { _ = f.Close() }()
	imports, err := f.ImportSSH(ctx, sshConfig)
	if err != nil {
		return err
	}
	fmt.Fprint(a.out, fleet.ImportTOML(imports))
	return nil
}

// printResolutions prints in table order what ssh_config makes of each host.
func (a *app) printResolutions(ctx context.Context, f *fleet.Fleet, hosts []fleet.Host) error {
	found := map[string]fleet.Resolution{}
	if len(hosts) > 0 {
		for r := range follow(ctx, a, f, hosts, f.Resolve(ctx, hosts...), func(r fleet.Resolution) string { return r.Host.Name }) {
			found[r.Host.Name] = r
		}
	}
	all, errs := make([]fleet.Resolution, 0, len(hosts)), make([]error, 0, len(hosts))
	for _, h := range hosts {
		r := found[h.Name]
		all, errs = append(all, r), append(errs, r.Err)
	}
	if a.json {
		a.printJSON(all)
		return shown(worst(errs))
	}
	for i, r := range all {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		a.printResolution(r)
	}
	return shown(worst(errs))
}

func (a *app) printResolution(r fleet.Resolution) {
	c := r.SSH
	switch {
	case r.Err != nil:
		fmt.Fprintf(a.out, "%s: ssh %s (not resolved)\n", r.Host.Name, transport.Neutralise(r.Host.SSH))
		a.showError(r.Err)
		return
	case c == nil:
		fmt.Fprintf(a.out, "%s: local, no ssh\n", r.Host.Name)
		return
	}
	fmt.Fprintf(a.out, "%s: ssh %s (by %s)\n", r.Host.Name, transport.Neutralise(r.Host.SSH), c.Source)
	rows := [][]string{{"  hostname", c.HostName}, {"  user", c.User}, {"  port", strconv.Itoa(c.Port)}}
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				rows = append(rows, []string{"  " + name, v})
				name = ""
			}
		}
	}
	add("proxyjump", c.ProxyJump)
	add("proxycommand", c.ProxyCommand)
	add("identity file", c.IdentityFiles...)
	add("certificate file", c.CertificateFiles...)
	add("agent", c.IdentityAgent)
	if c.ForwardAgent {
		add("agent forwarding", "yes, while attached")
	}
	add("known hosts file", c.KnownHostsFiles...)
	add("host key alias", c.HostKeyAlias)
	add("strict checking", c.StrictHostKeyChecking)
	add("config file", c.ConfigFiles...)
	add("not acted on", strings.Join(c.Unhonoured, ", "))
	add("warning", c.Warnings...)
	g := fit([]column{{}, {cut: cutMiddle}}, rows, a.width())
	for _, row := range rows {
		fmt.Fprintln(a.out, g.line(row, nil))
	}
}
