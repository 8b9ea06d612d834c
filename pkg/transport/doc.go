// Package transport runs POSIX sh scripts on an endpoint, this machine or one
// reached over SSH, and attaches a terminal to a command there.
//
//	pool := transport.NewPool(transport.Options{})
//	defer pool.Close()
//	conn := pool.Conn(transport.Endpoint{Destination: "build1"})
//	res, err := conn.Run(ctx, transport.Script{Text: "uname -a", Repeatable: true})
//
// A Pool has one Conn an Endpoint; Run and Attach are all there is to do with
// it. Text that goes into a script passes Quote; several questions in one script
// are told apart by Sections; text from a host passes Neutralise on its way to a
// person. What goes wrong on the way is an *Error with one Kind; a script that
// exits with a code has not gone wrong.
//
// An endpoint is reached as OpenSSH would reach it: ssh_config (by ssh -G where
// there is an ssh binary), known_hosts, agent and key files, ProxyJump and
// ProxyCommand. What only a person knows (whether a new host key is right, a
// passphrase, a password) is asked by Options.Ask, and without it not at all. A
// setting that would be unsafe to leave out is refused by name; others that are
// not acted on are named to Options.Unhonoured.
//
// What may live here: endpoints and how ssh_config resolves them, host keys,
// authentication, the connection pool, the running of scripts and the framing
// of what they print, attaching a terminal, and the one classification of what
// can go wrong on the way. What may not: tmux, claude, or the fleet table.
package transport
