package transport

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
)

// An ssh -G takes 5 ms of CPU time, nearly all of it the start of the program: half
// of what this side spends on a login. Most hosts of a fleet are configured alike,
// by a block of the same few keywords each. So of each such shape one host is read
// both by ssh and by our own reader, and where they agree in every setting the
// others of that shape are read by ours alone. What the installed ssh has of its own,
// such as a distribution's defaults, so shows at once; and whatever is less plain
// than a shape is always read by ssh.

// plainKeywords are those that a shape may have: a value of theirs means the same to
// every OpenSSH, wherever it comes from.
const plainKeywords = " hostname user port addressfamily bindaddress proxyjump connecttimeout connectionattempts serveraliveinterval serveralivecountmax" +
	" hostkeyalias stricthostkeychecking userknownhostsfile globalknownhostsfile hashknownhosts identityfile certificatefile identitiesonly identityagent" +
	" passwordauthentication kbdinteractiveauthentication pubkeyauthentication preferredauthentications batchmode numberofpasswordprompts forwardagent sendenv" +
	" requesttty loglevel tcpkeepalive visualhostkey checkhostip updatehostkeys addkeystoagent compression controlmaster controlpath controlpersist" +
	" forwardx11 forwardx11trusted gssapiauthentication gssapidelegatecredentials usekeychain "

// shape names what applies to a destination, without the values that differ from
// host to host; empty is what only ssh is asked about.
func (r *fileReader) shape(files []*configFile, k configKey) string {
	if k.jump != "" || r.ran || r.wantFinal || len(r.warnings) > 0 || !isPlainName(k.target.host) || !arePlain(files) {
		return ""
	}
	b := strings.Builder{}
	b.WriteString("plain ")
	if k.target.user != "" {
		b.WriteString("user@ ")
	}
	if k.target.port != 0 {
		b.WriteString(":port ")
	}
	for _, l := range r.applied {
		value := l.args[0]
		switch {
		case !strings.Contains(plainKeywords, " "+l.key+" "), strings.ContainsAny(l.rest, "\"'\\#$="):
			return ""
		case l.key == "forwardagent" && l.known.form == formAgent && !slices.Contains(strings.Fields(yesNo), strings.ToLower(value)):
			return "" // see doubtAgent
		case strings.Contains(l.rest, "%") && l.key != "hostname" && l.key != "identityfile":
			return ""
		}
		b.WriteString(l.key)
		// Words that a keyword knows are no host's own.
		if l.known.form == formFlag || l.known.form == formChoice || l.known.form == formAgent || none(value) == "" {
			b.WriteString("=" + strings.ToLower(value))
		}
		if strings.Contains(l.rest, "%") {
			b.WriteString("%")
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// arePlain is whether nothing in the files, be it in a block for another host, reads
// otherwise than a plain line does.
func arePlain(files []*configFile) bool {
	for _, f := range files {
		for i := range f.lines {
			l := &f.lines[i]
			switch {
			case l.key == "match", l.key == "canonicalizehostname", l.key == "ignoreunknown":
				return false
			case l.key == "host" && strings.ContainsAny(l.rest, "\"'\\#"):
				return false
			case l.key != "host" && l.key != "include" && l.known == nil:
				return false
			}
			if !arePlain(l.included) {
				return false
			}
		}
	}
	return true
}

// isPlainName is whether a destination is a name of letters, digits, dots, dashes
// and underscores, and no address.
func isPlainName(host string) bool {
	letters := false
	for _, c := range host {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters = true
		case c >= '0' && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return letters
}

// shapeKey is what the agreement of the two readers hangs on.
type shapeKey struct {
	asked configKey // less its target
	shape string
}

// errNotPlain is a configuration that only ssh is asked about.
var errNotPlain = errors.New("not plain")

// readAlike reads by ssh, or by our own reader where that was seen to read the like
// of it as ssh does.
func (c *configCache) readAlike(ctx context.Context, k configKey) (*reading, error) {
	own := k
	own.binary, own.plainly = "", true
	ours, err := resolveByFile(ctx, usualSources(k.file), own)
	if err != nil || ours.shape == "" {
		return resolveBySSH(ctx, k)
	}
	key := shapeKey{k, ours.shape}
	key.asked.target = target{}
	c.mu.Lock()
	agreed := c.alike[key] && !c.unlike[k.binary]
	c.mu.Unlock()
	if agreed {
		return ours, nil
	}
	r, err := resolveBySSH(ctx, k)
	if err != nil || r.ran {
		return r, err
	}
	same := sameSettings(r, ours, k.target)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alike[key] = same
	if !same {
		// Whatever it is, it may be so in other shapes too.
		c.unlike[k.binary] = true
	}
	return r, nil
}

// sameSettings is whether two readings come to the same settings.
func sameSettings(a, b *reading, t target) bool {
	x, err1 := settingsFrom(a, t)
	y, err2 := settingsFrom(b, t)
	if err1 != nil || err2 != nil {
		return false
	}
	x.origin, y.origin = nil, nil
	return reflect.DeepEqual(x, y)
}
