package fleet

import (
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// foundRow is a session as it may be discovered.
func foundRow(machine, session, dir string) Discovered {
	d := discovered(Host{Name: machine}, []seen{{Status: Status{
		Host:    Host{Transport: TransportSSH, SSH: machine, Session: session, Workdir: dir},
		Verdict: detect.Verdict{State: detect.Ready},
	}}})
	return d[0]
}

func TestDiscoveredNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	all := []Discovered{
		foundRow("web", "a", "/srv/app"), foundRow("web", "b", "/srv/app"), foundRow("web", "c", "/srv/app"), foundRow("db", "a", "/srv/app"),
		foundRow("web", "d", "/"), foundRow("web", "e", "/srv/..."), foundRow("web", "f", "/srv/ü x"), foundRow("web", "g", "/srv/"+long), foundRow("web", "h", "/other/"+long), foundRow("web", "i", "/srv/a.b"),
	}
	table := &Table{Hosts: []Host{{Name: "web"}, {Name: "app"}}}
	nameAll(table, all)
	seen := map[string]bool{"web": true, "app": true}
	for i, want := range []string{"web-app", "web-app-2", "web-app-3", "db-app", "local", "web-local", "x", "", "", "a.b"} {
		name := all[i].Host.Name
		if want != "" && name != want || seen[name] || checkName(name) != nil {
			t.Errorf("%d: %q, want %q", i, name, want)
		}
		seen[name] = true
	}
}

// FuzzDiscoveredTOML holds whatever a machine calls its sessions and folders to
// text that is a table: of one host where it may be one, and of none else.
func FuzzDiscoveredTOML(f *testing.F) {
	for _, s := range [][2]string{
		{"claude", "/srv/app"}, {"a b", "/srv/app"}, {"x", "/srv/\"]\n[hosts.evil]"}, {"\x1b[31m", "relative"}, {"-x", "~/y"}, {"", ""}, {"x\u2028y", "/\u202e"}, {"ok", "/\xff"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, session, dir string) {
		all := []Discovered{foundRow("web", session, dir)}
		nameAll(&Table{}, all)
		text := DiscoveredTOML(all)
		table, err := ParseTable("x", []byte("[hosts.first]\n"+text))
		if err != nil {
			t.Fatalf("%v: %q", err, text)
		}
		if got, want := len(table.Hosts)-1, 1; all[0].Skip == "" && got != want || all[0].Skip != "" && got != 0 {
			t.Fatalf("%d rows of %q, skip %q", got, text, all[0].Skip)
		}
		if all[0].Skip == "" && (table.Hosts[1].Session != session || table.Hosts[1].Workdir != dir) {
			t.Fatalf("%+v of %q and %q", table.Hosts[1], session, dir)
		}
	})
}
