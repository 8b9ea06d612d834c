// Package transport runs POSIX sh scripts on an endpoint, this machine or one
// reached over SSH, and attaches a terminal to a command there.
//
// What may live here: endpoints and how ssh_config resolves them, host keys,
// authentication, the connection pool, the running of scripts and the framing
// of what they print, attaching a terminal, and the one classification of what
// can go wrong on the way. What may not: tmux, claude, or the fleet table.
package transport
