package rigtest

import (
	"flag"
	"fmt"
	"runtime"
	"strconv"
)

// testsPerCore is how many tests run at once for each core. Tests over a rig wait
// more than they work: for a client to start, for a screen that stays as it is, for a
// deadline. With twice as many, clients that start at the same time are so slow that
// the product's own limits are met.
const testsPerCore = 2

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
	if err := flags.Set(name, strconv.Itoa(testsPerCore*runtime.GOMAXPROCS(0))); err != nil {
		return fmt.Errorf("set how many tests run at once: %w", err)
	}
	return nil
}
