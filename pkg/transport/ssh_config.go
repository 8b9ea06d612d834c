package transport

import (
	"context"
	"errors"
	"slices"
)

// SSHConfig is what ssh_config says about an endpoint, as far as this package
// goes by it. File names are whole; those files need not exist.
type SSHConfig struct {
	HostName string `json:"hostname"`
	User     string `json:"user"`
	Port     int    `json:"port"`
	// IdentityFiles are tried in this order, after what the agent has of them.
	// With nothing configured they are OpenSSH's own.
	IdentityFiles    []string `json:"identity_files"`
	CertificateFiles []string `json:"certificate_files,omitempty"`
	// ProxyJump is the chain of hops with commas between, nearest first; empty
	// means none.
	ProxyJump    string `json:"proxyjump"`
	ProxyCommand string `json:"proxycommand,omitempty"`
	HostKeyAlias string `json:"host_key_alias,omitempty"`
	// KnownHostsFiles are the user's, then the system's.
	KnownHostsFiles []string `json:"known_hosts_files"`
	// StrictHostKeyChecking is yes, accept-new, ask or no.
	StrictHostKeyChecking string `json:"strict_host_key_checking"`
	// IdentityAgent is the agent's socket; empty means that no agent is asked.
	IdentityAgent string `json:"identity_agent,omitempty"`
	ForwardAgent  bool   `json:"forward_agent"`
	// Source is "ssh -G" if an ssh binary was asked, else "ssh_config".
	Source string `json:"source"`
	// ConfigFiles are the files that were read.
	ConfigFiles []string `json:"config_files"`
	// Unhonoured are the keywords that are set and not acted on here, and
	// Warnings tell of blocks that were left out.
	Unhonoured []string `json:"unhonoured,omitempty"`
	Warnings   []string `json:"warnings,omitempty"`
}

// Resolve gives what ssh_config says about e. It connects to nothing, but may
// run ssh -G and, as ssh does, the commands of Match exec. Its error is always an
// *Error: of KindConfig for a configuration that is wrong and for a local
// endpoint, which has none, of KindProxy for a host that is its own jump host,
// else for the end of ctx. What was read is kept for a minute, unless a file of
// it changes before.
func (p *Pool) Resolve(ctx context.Context, e Endpoint) (SSHConfig, error) {
	if e.Local {
		return SSHConfig{}, &Error{Kind: KindConfig, Endpoint: e, Err: errors.New("this machine is not reached by SSH"), Hint: "ask about a host that has an SSH destination"}
	}
	ctx, leave, err := p.enter(ctx, e)
	if err != nil {
		return SSHConfig{}, err
	}
	defer leave()
	s, rerr := p.resolve(ctx, routeKey{Endpoint: e})
	if rerr != nil {
		return SSHConfig{}, rerr
	}
	return SSHConfig{
		HostName: s.host, User: s.user, Port: s.port,
		IdentityFiles: list(s.identities), CertificateFiles: list(s.certificates),
		ProxyJump: s.proxyJump, ProxyCommand: s.proxyCommand, HostKeyAlias: s.hostKeyAlias,
		KnownHostsFiles:       list(s.userKnown, s.globalKnown),
		StrictHostKeyChecking: s.strict, IdentityAgent: s.agent, ForwardAgent: s.forwardAgent != "",
		Source: s.origin.source, ConfigFiles: list(s.origin.files),
		Unhonoured: list(s.unhonoured), Warnings: list(s.origin.warnings),
	}, nil
}

// list joins lists into one that is the caller's own and not nil.
func list(parts ...[]string) []string {
	return append([]string{}, slices.Concat(parts...)...)
}
