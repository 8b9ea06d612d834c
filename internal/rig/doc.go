// Package rig makes hosts out of this machine, for tests, the demo, benchmarks
// and recording: each is a real sshd on a loopback port with a home, a tmux
// server, a workdir and the real client of its own. It also holds what stands
// in for the parts that can't be had: a scripted Messages API and a TCP proxy
// that delays, stalls and cuts.
//
// Start makes the hosts and Close unmakes them; Go tests use rigtest.Start,
// which does both. What the clients are told to do is in the prompts that they
// get: see package api. A process that dies without Close leaves nothing for
// long either: see reaper.
//
// What may live here: the making and the unmaking of such hosts and of the
// faults that a test needs. What may not: anything that the product imports.
package rig
