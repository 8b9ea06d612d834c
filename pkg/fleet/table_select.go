package fleet

import (
	"errors"
	"slices"
	"strings"
)

// SelectError says that an argument of Select names no host and no tag.
type SelectError struct {
	Arg   string   // as it was given
	Near  []string // hosts and @tags that it may have meant, the nearest first
	Known []string // all hosts or, for an @tag, all @tags
}

// Error names the near matches, or else what there is to choose from.
func (e *SelectError) Error() string {
	kind := "host"
	if strings.HasPrefix(e.Arg, "@") {
		kind = "tag"
	}
	msg := "no " + kind + " " + quote(e.Arg) + " in the table"
	switch {
	case len(e.Near) > 0:
		return msg + didYouMean(e.Near)
	case len(e.Known) == 0:
		return msg + " (it has no " + kind + "s)"
	}
	// A long fleet would bury the message.
	const most = 8
	list, more := e.Known, ""
	if len(list) > most {
		list, more = list[:most], ", …"
	}
	return msg + " (it has " + printable(strings.Join(list, ", ")) + more + ")"
}

// Select picks hosts by name and by @tag: in the order of the table, each once,
// however often and in whichever order the arguments name it. With no argument
// it picks all. Each argument that names nothing gives a *SelectError, joined
// when there are several, and then no host is returned: half of a selection is
// not what was asked for. The hosts share their Tags with the table.
func (t *Table) Select(args ...string) ([]Host, error) {
	if len(args) == 0 {
		return slices.Clone(t.Hosts), nil
	}
	picked := make([]bool, len(t.Hosts))
	var errs []error
	for _, arg := range args {
		tag, isTag := strings.CutPrefix(arg, "@")
		found := false
		for i, h := range t.Hosts {
			if isTag && slices.Contains(h.Tags, tag) || !isTag && h.Name == arg {
				picked[i], found = true, true
			}
		}
		if !found {
			errs = append(errs, t.selectError(arg, isTag))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	var hosts []Host
	for i, h := range t.Hosts {
		if picked[i] {
			hosts = append(hosts, h)
		}
	}
	return hosts, nil
}

// selectError looks for what arg may have meant among names and tags alike: a
// forgotten @, or one too many, is as likely as a slip of the finger.
func (t *Table) selectError(arg string, isTag bool) *SelectError {
	var names, tags []string
	for _, h := range t.Hosts {
		names = append(names, h.Name)
		for _, tag := range h.Tags {
			if !slices.Contains(tags, "@"+tag) {
				tags = append(tags, "@"+tag)
			}
		}
	}
	same, other := names, tags
	if isTag {
		same, other = tags, names
	}
	return &SelectError{Arg: arg, Near: near(arg, append(slices.Clone(same), other...)), Known: same}
}
