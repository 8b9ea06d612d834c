package main

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/notify"
)

// errInterrupted is what a look ends with that a signal has cut short.
var errInterrupted = errors.New("interrupted")

// statusFlags are those of status.
type statusFlags struct {
	onlyPerson    bool
	changed       bool
	watch         bool
	interval      time.Duration
	count         int
	notify        string
	notifyTimeout time.Duration
	notifyLimit   int
	state         string
}

func (o *statusFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&o.onlyPerson, "check", false, "show only hosts that need a person, and exit with 7 if there are any")
	f.BoolVar(&o.changed, "changed", false, "show only what changed since the last run with --changed")
	f.BoolVar(&o.watch, "watch", false, "go on looking: a live table, or without a terminal a line a change")
	f.DurationVar(&o.interval, "interval", fleet.DefaultInterval, "with --watch: the time between two looks at a machine")
	f.IntVar(&o.count, "count", 0, "with --watch: end after so many looks at each host")
	f.StringVar(&o.notify, "notify", "", "run `CMD` by sh for each change, with the change as JSON on standard input")
	f.DurationVar(&o.notifyTimeout, "notify-timeout", notify.DefaultTimeout, "end a notify command that takes longer")
	f.IntVar(&o.notifyLimit, "notify-limit", fleet.DefaultNotifyLimit, "run the notify command at most so often, in one run or with --watch in a minute")
	f.StringVar(&o.state, "state", "", "with --changed or --notify: keep what was seen in `FILE`")
}

// check refuses what would be left without effect, since whoever wrote it expects one.
func (o *statusFlags) check(given func(string) bool) error {
	kept := o.changed || o.notify != ""
	switch {
	case given("notify") && o.notify == "":
		return usagef("--notify wants a command")
	case given("state") && (o.state == "" || !kept):
		return usagef("--state names a file for --changed or --notify")
	case o.watch && o.changed:
		return usagef("--watch tells every change by itself: leave out --changed")
	case !o.watch && (given("interval") || given("count")):
		return usagef("--interval and --count are for --watch")
	case o.notify == "" && (given("notify-timeout") || given("notify-limit")):
		return usagef("--notify-timeout and --notify-limit are for --notify")
	case given("interval") && o.interval < 100*time.Millisecond:
		return usagef("--interval must be a tenth of a second at least")
	case given("count") && o.count <= 0, given("notify-timeout") && o.notifyTimeout <= 0, given("notify-limit") && o.notifyLimit <= 0:
		return usagef("--count, --notify-timeout and --notify-limit must be above zero")
	}
	return nil
}
