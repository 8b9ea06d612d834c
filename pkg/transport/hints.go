package transport

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
)

// sshCommand is the ssh that reaches e, for a hint; args go before the
// destination. ssh itself takes a port only apart from the host.
func (e Endpoint) sshCommand(args ...string) string {
	line := "ssh"
	if e.ConfigFile != "" {
		line += " -F " + Quote(e.ConfigFile)
	}
	for _, a := range args {
		line += " " + a
	}
	t, err := parseDestination(e.Destination)
	if err != nil {
		return Neutralise(line + " -- " + Quote(e.Destination))
	}
	if t.port != 0 {
		line += " -p " + strconv.Itoa(t.port)
	}
	if t.user != "" {
		line += " -l " + Quote(t.user)
	}
	return Neutralise(line + " " + Quote(t.host))
}

// configHint says what to do about an ssh_config that is not valid.
func (e Endpoint) configHint() string {
	if e.ConfigFile != "" && e.ConfigFile != "none" {
		if _, err := os.Stat(e.ConfigFile); errors.Is(err, fs.ErrNotExist) {
			return "there is no file " + Neutralise(e.ConfigFile) + ": see how the name is written, and from which directory"
		}
	}
	return "mend that in ssh_config; where an ssh binary is installed, see what this says: " + e.sshCommand("-G")
}
