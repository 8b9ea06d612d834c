// Package notify has ways to tell of what changed in a fleet, for a fleet.Dispatcher:
// [Command] runs a command of this machine for each change.
//
// What may live here: implementations of fleet.Notifier that need this machine, such as
// its processes. What may not: what counts as a change, and how often it is told
// (pkg/fleet).
package notify
