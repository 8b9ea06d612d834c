// Package relay lets programs of one account share SSH connections: a Server holds
// pools of transport behind a unix socket, and a Client, the transport.Carrier of
// another program's Pool, has its scripts run over them.
//
// What goes through the socket is one script for one endpoint, and its result or
// its *transport.Error. All that a script means is the caller's. A call brings the
// environment that decides how the host is reached, and its questions and warnings
// go back to it. Whatever keeps a call from being run here (no server, another
// version, another account) makes the Client give transport.ErrNotCarried, so that
// everything works as well without a server.
//
// Besides, a caller may leave some bytes with the server for those after it (Recall),
// so that what it has seen need not be looked for again. What they mean is its own.
//
// Nothing of a script, an answer, a result or such bytes is logged or written to a disk.
//
// What may live here: the socket and who may use it, the frames on it, the pools
// by environment, what callers leave for one another, and the life of the server.
// What may not: how a host is reached, which is transport's, and anything that knows
// tmux, claude or the fleet table.
package relay
