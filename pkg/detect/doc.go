// Package detect turns what was seen of one claude session into a verdict on
// its state.
//
// It is pure: evidence goes in, a verdict comes out. It imports nothing else
// of this module, does no I/O, and takes the clock and the host's time zone as
// inputs, so that any verdict can be reproduced from a saved screen. What may
// live here: the parsing of a captured screen into cells and regions, the rule
// table, and the types of evidence and verdict. What may not: how evidence is
// gathered (pkg/fleet, pkg/tmux, pkg/transcript) and what is done with a
// verdict (pkg/fleet).
//
// Ready must be proven. Everything that is not proven ready is something else,
// and a second witness may only lower a verdict towards not typing.
package detect
