// Package setuptoken has `claude setup-token` make a token on this machine: it runs
// the program on a terminal of its own (a pty), shows a person the address to sign
// in at, types the code that they bring back, and reads the token off the screen.
//
// What may live here: that one dialogue with the client, its screen and what is read
// off that. What may not: anything of hosts or of the terminal that the person is
// at, which the caller asks on.
//
// What the client draws was measured with 2.1.332, on loopback with no way to the
// service: the address both as a link and as text, unbroken where the terminal is
// wide enough; a box for the code that shows its last seven characters; "✘" and a
// sentence for a code that is none; and "OAuth error: …" with "Press Enter to
// retry" where the service did not take it. It draws what differs alone, so that a
// text may come in pieces around a letter that stood there before: hence the screen.
// The words around the token are those in the program.
package setuptoken
