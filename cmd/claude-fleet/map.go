package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

func newMap(a *app) *cobra.Command {
	var toml bool
	cmd := &cobra.Command{
		Use:   "map [host…|@tag…]",
		Short: "Show the fleet table as it was resolved",
		Long: `Map shows the fleet table as it was resolved: every default filled in. It asks no
host. With --toml it prints the table as a fleet.conf in TOML, whichever form it
was read from.` + exitStatus(0, 2),
		ValidArgsFunction: a.hostNames,
		RunE: func(_ *cobra.Command, names []string) error {
			if toml && a.json {
				return usagef("map: choose one of --toml and --json")
			}
			return a.with(func(f *fleet.Fleet) error {
				hosts, err := f.Select(names...)
				if err != nil {
					return err
				}
				switch {
				case toml:
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
	cmd.Flags().BoolVar(&toml, "toml", false, "print the table as TOML")
	return cmd
}

func (a *app) printMap(hosts []fleet.Host) {
	t := table{{"HOST", "PROJECT", "TRANSPORT", "SSH", "SESSION", "WORKDIR", "TAGS"}}
	for _, h := range hosts {
		ssh := h.SSH
		if ssh == "" {
			ssh = "-"
		}
		t = append(t, []string{h.Name, h.Project, h.Transport, ssh, h.Session, h.Workdir, strings.Join(h.Tags, ",")})
	}
	t.print(a.out)
}
