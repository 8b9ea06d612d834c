package rigtest

import (
	"flag"
	"fmt"
	"runtime"
	"strconv"
)

// atOnce is how many tests run at once on so many cores. Tests over a rig wait more
// than they work: for a client to start, for a screen that stays as it is, for a
// deadline. One that has a client takes 0.4 to 0.7 of a core (measured), and another
// package's tests run beside these. With twice as many the product's own limits are
// met, and tests fail that should not.
func atOnce(cores int) int { return (3*cores + 1) / 2 }

// MoreAtOnce lets more tests run at once than there are cores, unless -parallel says
// how many. It is for a TestMain, before the tests are run; it parses the flags.
func MoreAtOnce() error {
	flag.Parse()
	return moreAtOnce(flag.CommandLine)
}

func moreAtOnce(flags *flag.FlagSet) error {
	const name = "test.parallel"
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return nil
	}
	if err := flags.Set(name, strconv.Itoa(atOnce(runtime.GOMAXPROCS(0)))); err != nil {
		return fmt.Errorf("set how many tests run at once: %w", err)
	}
	return nil
}
