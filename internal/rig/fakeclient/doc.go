// Package fakeclient is a stand-in for the client, for tests in which a fault
// has to come at its moment: an Enter that is swallowed, a dialog that opens
// between a look and a paste, a conversation that is written late. Main is the
// whole program (package claude, beside it), a Script tells it what goes wrong and
// when, and a log in its host's home, which ReadLog reads, says all that it
// received and did.
//
// What it draws, and which keys do what, was read off the real client 2.1.332,
// so that whoever judges its screens, its process and its files takes it for
// that. It answers nothing by itself: for what a model or a tool would do,
// tests use the real client with package api.
//
// What may live here: the behaviour of the real client that those tests need,
// and ways to break it. What may not: anything of the product, whose mistakes
// would then cancel out.
package fakeclient
