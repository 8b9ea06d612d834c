// Package plugin tests the Claude Code plugin in the folder plugin with the real
// client: that it is accepted, installed and loaded, that its skill and its
// commands bring the fleet before the model, and that nothing else runs by them.
//
// What may live here: tests that need the client. What may not: what the plugin
// says of commands, flags and exit codes, which cmd/claude-fleet holds to the
// command line itself.
package plugin
