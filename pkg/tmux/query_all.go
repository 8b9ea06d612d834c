package tmux

import "time"

// NewQueryAll asks for every session of the server, whatever it is called. tmux
// itself writes the control characters of a name as escapes when it takes the
// name, so that records stay whole (seen on 3.3a: ESC as \033, LF as \n); a name
// may hold any other character.
func NewQueryAll() Query { return Query{all: true, nonce: newNonce(), asked: time.Now()} }
