package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// run is the program: results go to out, what happens meanwhile to log.
func run(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	flags.SetOutput(log)
	version := flags.String("client", rig.ClientVersion, "`version` of the client")
	size := flags.String("size", "120x40", "`WIDTHxHEIGHT` of the pane")
	name := flags.String("setting", "default", "how the client is set up")
	only := flags.String("only", "", "record only the scenes whose name matches this `regexp`")
	folder := flags.String("out", "recordings", "`folder` of the recordings")
	jobs := flags.Int("jobs", 2, "clients at once")
	diff := flags.Bool("diff", false, "record nothing: compare the recording of -client with that of -against")
	again := flags.Bool("judge", false, "record nothing: ask detect about the recorded screens anew")
	against := flags.String("against", rig.ClientVersion, "`version` to compare with")
	if err := flags.Parse(args); err != nil {
		return err
	}
	conf := config{version: *version, settingName: *name, jobs: max(1, min(*jobs, maxFolders))}
	var mu sync.Mutex // tracks run at once
	conf.log = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(log, format+"\n", args...)
	}
	var err error
	if conf.width, conf.height, err = parseSize(*size); err != nil {
		return err
	}
	if conf.setting, err = findSetting(*name); err != nil {
		return err
	}
	if *only != "" {
		if conf.only, err = regexp.Compile(*only); err != nil {
			return fmt.Errorf("read -only: %w", err)
		}
	}
	if *diff {
		return runDiff(out, conf, *against, *folder)
	}
	dir := filepath.Join(*folder, conf.folder())
	begin := time.Now()
	if *again {
		results, err := rejudge(conf, *folder)
		if err == nil {
			err = writeTable(dir, conf, results)
			summarize(out, conf, results, dir, time.Since(begin))
		}
		return err
	}
	results, err := record(ctx, conf, tracks)
	if ctx.Err() != nil {
		return fmt.Errorf("nothing was written: %w", ctx.Err())
	}
	if len(results) == 0 {
		return errors.Join(err, errors.New("no scene was recorded"))
	}
	err = errors.Join(err, write(dir, conf, results))
	summarize(out, conf, results, dir, time.Since(begin))
	return err
}

// runDiff compares two recordings. What was not recorded here may be in the
// corpus.
func runDiff(out io.Writer, conf config, against, folder string) error {
	other := conf
	other.version = against
	old, err := readRecording(other, folder, corpus)
	if err != nil {
		return err
	}
	recorded, err := readRecording(conf, folder, corpus)
	if err != nil {
		return err
	}
	compare(out, old, recorded)
	return nil
}

func parseSize(size string) (width, height int, err error) {
	w, h, _ := strings.Cut(size, "x")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	if errW != nil || errH != nil || width < 20 || height < 5 {
		return 0, 0, fmt.Errorf("size %q: want it as 120x40", size)
	}
	return width, height, nil
}
