package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// config is what one recording is made of.
type config struct {
	version       string
	width, height int
	settingName   string
	setting       setting
	only          *regexp.Regexp // nil for all scenes
	jobs          int            // tracks at once
	log           func(format string, args ...any)
}

// size is as the names of recordings have it.
func (c config) size() string { return fmt.Sprintf("%dx%d", c.width, c.height) }

// folder is the recording's name.
func (c config) folder() string {
	name := c.version + "-" + c.size()
	if c.settingName != "default" {
		name += "-" + c.settingName
	}
	return name
}

// result is what became of one scene.
type result struct {
	scene
	track  string
	view   *view  // nil where not even a screen was to be had
	missed string // why the scene did not come about; empty where it did
}

// record leads a client through every track and returns the results in the
// tables' order. It gives no error for what a version can't do: that is a
// result too.
func record(ctx context.Context, conf config, tracks []track) ([]result, error) {
	client, err := rig.FindClientVersion(ctx, conf.version, conf.log)
	if err != nil {
		return nil, err
	}
	found := make([][]result, len(tracks))
	errs := make([]error, len(tracks))
	var wait sync.WaitGroup
	slots := make(chan struct{}, conf.jobs)
	for i, t := range tracks {
		if t = t.chosen(conf.only); len(t.scenes) == 0 {
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		wait.Go(func() {
			defer func() { <-slots }()
			begin := time.Now()
			found[i], errs[i] = runTrack(ctx, conf, client, t)
			conf.log("track %s: %d scenes in %v", t.name, len(found[i]), time.Since(begin).Round(time.Second))
		})
	}
	wait.Wait()
	var all []result
	for _, results := range found {
		for _, r := range results {
			if conf.only == nil || conf.only.MatchString(r.name) {
				all = append(all, r)
			}
		}
	}
	return all, errors.Join(append(errs, ctx.Err())...)
}

// chosen is the track with only those chains of scenes that one of the wanted
// is in.
func (t track) chosen(only *regexp.Regexp) track {
	if only == nil {
		return t
	}
	var scenes []scene
	for _, c := range t.chains() {
		for i := len(c) - 1; i >= 0; i-- {
			if only.MatchString(c[i].name) {
				scenes = append(scenes, c[:i+1]...)
				break
			}
		}
	}
	t.scenes = scenes
	return t
}

// hostName is what every screen shows of the machine.
const hostName = "dev"

// runTrack makes a host and leads its client through the track's scenes.
func runTrack(ctx context.Context, conf config, client rig.Binary, t track) (_ []result, err error) {
	dir, free, err := takeFolder(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	spec := conf.setting.apply(t.host)
	spec.Name, spec.Local = hostName, true
	r, err := rig.Start(ctx, rig.Options{Dir: dir, Client: client.Path, Hosts: []rig.HostSpec{spec}})
	if err != nil {
		return nil, fmt.Errorf("track %s: %w", t.name, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d := &driver{rig: r, host: r.Host(hostName), track: t, conf: conf}
	for path, text := range t.files {
		path = filepath.Join(d.host.Home, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return nil, fmt.Errorf("track %s: %w", t.name, err)
		}
	}
	if d.state, err = os.ReadFile(filepath.Join(d.host.Home, ".claude.json")); err != nil {
		return nil, fmt.Errorf("track %s: %w", t.name, err)
	}
	var results []result
	fresh := true
	for _, c := range t.chains() {
		if fresh {
			if err := d.start(ctx); err != nil {
				return results, fmt.Errorf("track %s: %w", t.name, err)
			}
		}
		done := d.lead(ctx, c, fresh)
		results = append(results, done...)
		fresh = done[len(done)-1].how&last != 0
		if ctx.Err() != nil {
			break
		}
	}
	return results, nil
}

// lead brings one chain about. Where a scene is missed, those that follow it
// are too.
func (d *driver) lead(ctx context.Context, c chain, fresh bool) []result {
	var results []result
	why := ""
	for i, s := range c {
		r := result{scene: s, track: d.track.name}
		if i == 0 && s.how&follows == 0 && d.dead == "" {
			if err := d.settle(ctx, fresh); err != nil {
				r.miss(fmt.Errorf("no idle box to begin at: %w", err))
			}
		}
		switch {
		case d.dead != "" && r.missed == "":
			r.missed = d.dead
		case r.missed != "":
		case why != "":
			r.missed = why
		default:
			d.bringAbout(ctx, &r)
		}
		if r.missed != "" && why == "" {
			why = "follows " + s.name + ", which was missed"
		}
		state := "done"
		if r.missed != "" {
			state = "MISSED: " + r.missed
		}
		d.conf.log("%-12s %-28s %s", d.track.name, s.name, state)
		results = append(results, r)
	}
	return results
}

// sceneWithin bounds one scene, whatever its steps wait for.
const sceneWithin = 3 * time.Minute

func (d *driver) bringAbout(ctx context.Context, r *result) {
	ctx, cancel := context.WithTimeout(ctx, sceneWithin)
	defer cancel()
	for _, s := range r.steps {
		if err := s.do(ctx, d); err != nil {
			r.miss(fmt.Errorf("%s: %w", s.what, err))
			return
		}
	}
	v, err := d.wait(ctx, r.until)
	if err == nil && r.how&moving == 0 {
		v, err = d.atRest(ctx, r.until, restFor, restWithin)
	}
	if err != nil {
		r.miss(err)
		return
	}
	r.view = v
}

// miss notes why the scene did not come about, with the screen of that moment.
func (r *result) miss(err error) {
	r.missed = err.Error()
	var m *missed
	if errors.As(err, &m) {
		r.view = m.last
	}
}
