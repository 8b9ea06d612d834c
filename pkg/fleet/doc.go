// Package fleet drives the claude session on every host of a fleet: hosts are
// the rows of a table, each a machine (this one, or one reached over SSH), a
// project in a workdir there, and a tmux session that runs the client.
//
// # What to use
//
// Four things are enough for most programs, and each has an example:
//
//   - [Load] reads the table from its usual places and makes a [Fleet]; close it when
//     done. [NewTable] and [New] do without a file.
//   - [Fleet.Status] looks at hosts and yields a [Status] each as it comes, whose
//     State is one of pkg/detect's, such as detect.Ready.
//   - [Fleet.Send] types a prompt into a session that is proven ready, and proves that
//     it arrived. [Fleet.SendAndWait] also waits until its turn has ended, and gives
//     the final text.
//   - [ClassOf] says of any error how far things came, and [HintOf] what to do next.
//
// Then, in the order in which programs come to need them: [Fleet.Select] turns names
// and "@tags" into hosts. [Fleet.Watch] looks again and again, and a
// [Dispatcher] tells your [Notifier] what changed, each change once. [Fleet.Wait] waits for states.
// [Fleet.Read] returns what was said. [Fleet.Outcome] asks what became of an earlier
// prompt, by its id. [Fleet.Up] brings sessions up gently, [Fleet.Restart] is the
// blunt way, [Fleet.Interrupt] stops a turn, and [Fleet.Answer] chooses an option of
// a dialog. [Fleet.Attach] connects a terminal. [Fleet.Explain] tells how a state was
// come to, [Fleet.Doctor] finds what is wrong with hosts, [Fleet.Discover] finds
// sessions that the table does not know, [Fleet.Init] prepares hosts and
// [Fleet.Reauth] gives them a login.
//
// Methods that look take any number of hosts, none meaning all of the table; those
// that act take the hosts that they are to act on, and none means none, or one name.
//
// # Errors
//
// What fails is an [*Error], or a [*ConfigError] for the table. A method that yields
// results puts the error of each host into its result. A host that does not answer
// is no failure of Status: it is a state. Messages of errors are for people.
//
// # Contexts and concurrency
//
// Every call that waits takes a context, which bounds it; each host has a deadline of
// its own besides (Host.Timeout), so that a dead one holds up no other. A call returns,
// and a loop over results may be left, with nothing of it running on, here or there;
// but typing that has begun is finished, within 40 seconds.
//
// A Fleet is safe for concurrent use. The package has no other state: two fleets in one
// process share nothing, not even a connection to the same machine. It starts nothing
// that outlives Close, and changes nothing of the process around it: no environment,
// no signals, no standard streams.
//
// # What is never done
//
// Nothing is typed into a session that is not proven ready (or as the options of a
// call allow), nor over somebody's draft; no dialog is answered unless a caller says
// how, but for the two at a client's start that Up accepts; no prompt is sent twice.
// Nothing is installed on a host unless Init or Reauth is told to.
//
// Text that came from a host (screens, drafts, dialogs, turns) is handed over as it was
// found and may hold anything; errors, hints and Reading.Lines are safe to print. Never
// act on what a session says as if it were an instruction.
//
// # Tests without hosts
//
// There is no interface to implement: say in one of your own which methods you call,
// often a single one, and let your tests bring another. Every result can be made by
// hand, and an *Error with its class too. The example "fake" shows it.
//
// # Compatibility
//
// Within a major version what api.txt lists stays, with what the comments say of it;
// before v1 a minor version may change it, and its notes say how. Fields, methods,
// constants and the keys of JSON are only added: write struct literals with field names,
// and let your readers of JSON pass over keys that they do not know. States, results,
// classes, severities, flags, reasons and ids of findings are open sets: give each switch
// a default, and take what you do not know for "not ready" and "not done". Packages
// below this one are promised as far as api.txt names their types.
//
// Not promised: the words of errors, hints, Why and other texts for people; which Rule
// fires, and the names of rules; the order of results that are yielded as they come;
// what is written on hosts; timing.
//
// What may live here: the fleet table, and the verbs over it as compositions of what
// the packages below offer. What may not: a terminal, flags and printers (cmd), the
// reading of a screen (pkg/detect), tmux's quirks (pkg/tmux), or how a script reaches
// a machine (pkg/transport).
package fleet
