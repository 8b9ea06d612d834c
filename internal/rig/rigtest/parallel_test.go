package rigtest

import (
	"flag"
	"runtime"
	"testing"
)

func TestMoreAtOnce(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{
		{nil, atOnce(runtime.GOMAXPROCS(0))},
		{[]string{"-test.parallel", "1"}, 1},
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		n := flags.Int("test.parallel", 0, "")
		if err := flags.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		if err := moreAtOnce(flags); err != nil || *n != c.want {
			t.Errorf("%q: %d, want %d, %v", c.args, *n, c.want, err)
		}
	}
	if err := moreAtOnce(flag.NewFlagSet("", flag.ContinueOnError)); err == nil {
		t.Error("nothing is said where there is no such flag")
	}
}
