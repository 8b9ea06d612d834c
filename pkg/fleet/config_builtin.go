package fleet

import (
	"os"
	"path/filepath"
	"strings"
)

// builtinTable is the fleet of somebody who has no fleet.conf: one local host,
// named after the current directory, which is its workdir. Two projects so get
// two sessions, as they would with a file.
func builtinTable() (*Table, error) {
	const label = "built-in table"
	dir, err := os.Getwd()
	if err != nil {
		return nil, &ConfigError{
			File: label, Msg: "the current directory cannot be told: " + systemReason(err),
			Hint: "go to another one, or write a fleet.conf", err: err,
		}
	}
	p := &problems{file: label}
	if f := checkWorkdir(dir); f != nil {
		p.add(0, keyWorkdir, fault{f.msg, "go to another directory, or write a fleet.conf"})
		return nil, p.err()
	}
	r := hostRow{name: nameFor(dir), set: settings{
		keyWorkdir:   {text: dir},
		keyTransport: {text: TransportLocal},
	}}
	return &Table{Hosts: resolve(p, configFile{rows: []hostRow{r}})}, p.err()
}

// nameFor makes a host's name of a folder's: what a name cannot hold becomes a
// dash.
func nameFor(dir string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && isNameByte(byte(r)) {
			return r
		}
		return '-'
	}, filepath.Base(dir))
	name = strings.Trim(name, "-.")
	name = strings.TrimRight(name[:min(len(name), maxNameBytes)], "-.")
	if name == "" {
		return TransportLocal
	}
	return name
}
