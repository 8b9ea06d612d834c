package fleet

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Resolution is what ssh_config makes of one host.
type Resolution struct {
	Host Host
	// SSH is nil for a local host, and where Err is set.
	SSH *transport.SSHConfig
	Err error // an *Error
}

// MarshalJSON writes the host's object with the resolution in place of the name
// under "ssh": null for a local host. Where there is none, the object there has
// "error" and "hint" alone.
func (r Resolution) MarshalJSON() ([]byte, error) {
	type failure struct {
		Error string `json:"error"`
		Hint  string `json:"hint"`
	}
	var ssh any
	switch {
	case r.Err != nil:
		ssh = failure{r.Err.Error(), HintOf(r.Err)}
	case r.SSH != nil:
		ssh = r.SSH
	}
	// The outer key hides the host's own of the same name.
	return json.Marshal(struct {
		hostJSON
		SSH any `json:"ssh"`
	}{r.Host.json(), ssh})
}

// Resolve reads ssh_config for the hosts, all of them when none is given, and
// yields what it makes of each as it comes. It connects to nothing.
func (f *Fleet) Resolve(ctx context.Context, hosts ...Host) iter.Seq[Resolution] {
	if len(hosts) == 0 {
		hosts = f.table.Hosts
	}
	return stream(ctx, hosts, func(ctx context.Context, h Host, emit func(Resolution)) {
		r := Resolution{Host: h}
		defer func() { emit(r) }()
		if h.Transport == TransportLocal {
			return
		}
		ctx, cancel := f.conns.WithTimeout(ctx, h.Timeout)
		defer cancel()
		c, err := f.conns.Resolve(ctx, h.endpoint())
		if err != nil {
			r.Err = unresolved(h.Name, err)
		} else {
			r.SSH = &c
		}
	})
}

// unresolved wraps what is wrong with the ssh_config of a host.
func unresolved(host string, err error) *Error {
	if kind, ok := transport.KindOf(err); !ok || kind != transport.KindConfig {
		return failed(host, "reading ssh_config", err)
	}
	return &Error{Class: ClassUsage, Host: host, Msg: "ssh_config: " + cause(err), Hint: HintOf(err), Err: err}
}
