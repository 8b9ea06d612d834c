// Package transcript reads the files that the client keeps on its machine: the
// state that each running client writes of itself, and the conversation.
//
// What may live here: fragments of sh that print those files, and the pure
// readers of what they print. What may not: tmux, the screen, or the verdict.
//
// The facts behind it were measured on client 2.1.332. Record types that a
// reader does not know are passed over: every version has new ones. All text is
// from the machine and hostile; nothing here neutralises it.
package transcript
