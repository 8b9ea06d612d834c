// Command record drives the real client of any version through its states and
// writes down what it draws: `make record CLIENT=2.1.300`, and `make
// record-diff CLIENT=2.1.300 AGAINST=2.1.217` for what two recordings draw
// otherwise.
//
// The client runs in a real tmux pane against the scripted API, host by host of
// the rig. What it is led through are tracks (tracks*.go), tables of scenes:
// each names a state that is meant, the steps that bring it about, and what has
// to hold before the screen is taken. Versions differ, so a scene may not come
// about: that is recorded as missed, and the track goes on.
//
// Beside each screen stands what was meant and what independent witnesses said
// at that moment: the client's own session file, the API's count of open turns
// and the process table. What package detect says of the screen is written next
// to them, so that a disagreement shows at once.
//
// What may live here: the tables, the driving, and the comparison of two
// recordings. What may not: rules about screens. A condition here is only what a
// scene waits for; judging is detect's.
package main
