// Package tmux speaks to a tmux server through sh scripts that any runner
// carries to the server's machine: it lists and captures panes, starts and
// relaunches commands in them, presses keys and pastes text.
//
// What may live here: tmux's targets, formats and quirks, and the sh text that
// deals with them. What may not: what runs in a pane and what its screen means
// (pkg/detect, pkg/fleet), or how a script reaches a machine (pkg/transport).
//
// Three rules hold throughout, each for a measured reason (tmux 3.3a):
//
//   - tmux runs with -u always: in a C locale its list output would otherwise
//     turn every character outside ASCII, and TAB, into "_".
//   - A session is named as "=name" and a pane by its %id: a bare name matches
//     prefixes and globs, and "=name" is no pane target.
//   - Nothing is typed except through a [Guard], which compares what the pane
//     shows at that moment with what was judged.
package tmux
