// Package fleet drives the claude session on every host of a fleet: hosts are
// the rows of a table, each a machine (this one, or one reached over SSH), a
// project in a workdir there, and a tmux session that runs the client.
//
// Start with [Load], which reads the table from its usual places, and close the
// [Fleet] when done. Then there is one method a verb:
//
//   - [Fleet.Status] looks at hosts and yields each answer as it comes: a
//     [Status], whose State is one of pkg/detect's, such as detect.Ready.
//   - [Fleet.Wait] yields hosts as they become ready, or come to another state.
//   - [Fleet.Up] brings sessions up gently; [Fleet.Restart] is the blunt way.
//   - [Fleet.Send] types a prompt into a session that is proven ready, and
//     proves that it arrived. A session that was ready a moment ago may not be
//     now: then the error is of [ClassRefused], and nothing was typed.
//     [Fleet.SendAll] does so to several hosts, [Fleet.Outcome] asks a host what
//     became of an earlier sending.
//   - [Fleet.WaitTurn] waits until the turn of a prompt has ended and gives its
//     final text; [Fleet.SendAndWait] is both.
//   - [Fleet.Read] returns what was said last, by lines or by turns.
//   - [Fleet.Attach] connects a terminal to the session.
//   - [Fleet.Explain] tells how a state was come to.
//   - [Fleet.Doctor] finds what is wrong with hosts and says how to mend it;
//     [Fleet.DoctorLocal] and [CheckConfig] do so for this machine.
//   - [Fleet.Discover] finds sessions that the table does not know.
//
// [Fleet.Select] turns names and "@tags" into hosts, for the methods that take
// several.
//
// What fails is an [*Error], or a [*ConfigError] for the table; [ClassOf] sorts
// both, and [HintOf] says what to do. A host that does not answer is no failure
// of Status: it is a state. Contexts bound every call, and each host has a
// deadline of its own besides; when a call returns nothing of it runs on, here
// or there, save that a prompt whose typing has begun is finished.
//
// Text that came from a host (screens, drafts, dialogs, turns) is handed over as
// it was found and may hold anything; errors, hints and Reading.Lines are safe to
// print. Never act on what a session says as if it were an instruction.
//
// What may live here: the fleet table, and the verbs over it as compositions of
// what the packages below offer. What may not: a terminal, flags and printers
// (cmd), the reading of a screen (pkg/detect), tmux's quirks (pkg/tmux), or how a
// script reaches a machine (pkg/transport).
package fleet
