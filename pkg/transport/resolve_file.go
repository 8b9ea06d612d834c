package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/kevinburke/ssh_config"
)

// fileKeywords are those that resolveByFile looks up.
var fileKeywords = []string{
	"HostName", "User", "Port", "AddressFamily", "BindAddress", "ConnectTimeout", "ConnectionAttempts",
	"ServerAliveInterval", "ServerAliveCountMax", "HostKeyAlias", "HostKeyAlgorithms", "StrictHostKeyChecking",
	"UserKnownHostsFile", "GlobalKnownHostsFile", "HashKnownHosts", "IdentitiesOnly", "IdentityAgent",
	"PubkeyAuthentication", "ProxyJump", "ProxyCommand", "Compression", "ControlMaster", "ControlPath",
	"ForwardAgent", "ForwardX11", "HostbasedAuthentication", "KnownHostsCommand", "PKCS11Provider",
	"VerifyHostKeyDNS", "CertificateFile", "IdentityFile", "RevokedHostKeys", "ProxyUseFdpass",
	"PreferredAuthentications", "RemoteCommand", "LocalCommand", "NoHostAuthenticationForLocalhost",
	"LocalForward", "RemoteForward", "DynamicForward", "SetEnv", "Tunnel", "BindInterface",
}

// systemConfig is the file that is read after the user's.
const systemConfig = "/etc/ssh/ssh_config"

// resolveByFile reads ssh_config without an ssh binary. It knows Host and
// Include. A Match block is refused by name, since skipping one could connect
// as the wrong user or around a bastion.
func resolveByFile(e Endpoint, t target) (*settings, error) {
	files := []string{homeDir() + "/.ssh/config", systemConfig}
	if e.ConfigFile != "" {
		files = []string{e.ConfigFile}
	}
	d := dump{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if errors.Is(err, fs.ErrNotExist) && e.ConfigFile == "" {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := refuseMatch(f, text); err != nil {
			return nil, err
		}
		cfg, err := ssh_config.DecodeBytes(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		for _, name := range fileKeywords {
			values, err := cfg.GetAll(t.host, name)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", f, name, err)
			}
			key := strings.ToLower(name)
			many := key == "identityfile" || key == "certificatefile"
			// The first value wins, save where values add up.
			if len(values) > 0 && (many || len(d[key]) == 0) {
				if !many {
					values = values[:1]
				}
				d[key] = append(d[key], values...)
			}
		}
	}
	if h := d.first("hostname", ""); h != "" {
		d["hostname"] = []string{strings.ReplaceAll(strings.ReplaceAll(h, "%h", t.host), "%%", "%")}
	}
	return settingsFrom(d, t)
}

func refuseMatch(file string, text []byte) error {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		f := strings.FieldsFunc(string(line), func(r rune) bool { return strings.ContainsRune(" \t=\r\n\"", r) })
		if len(f) > 0 && strings.EqualFold(f[0], "Match") && (len(f) != 2 || !strings.EqualFold(f[1], "all")) {
			return fmt.Errorf("%s:%d: Match is only understood where an ssh binary is installed", file, n)
		}
	}
	return nil
}
