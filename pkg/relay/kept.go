package relay

import (
	"bytes"
	"sync"
	"time"
)

const (
	// maxBlob bounds what a caller may have kept, and maxBlobs and maxKept how much is
	// kept in all: a number, and bytes with the keys. What was used the longest ago goes.
	maxBlob  = 64 << 10
	maxBlobs = 256
	maxKept  = 8 << 20
	// maxKey bounds the names of what is kept.
	maxKey = 256
	// keptFor is how long something is kept without being used.
	keptFor = 5 * time.Minute
)

// store has what callers leave for those after them, by a key of their own making.
// It is in memory alone, and means nothing here. Its zero value is ready.
type store struct {
	mu   sync.Mutex
	kept map[string]*kept
	size int // bytes, with the keys
}

type kept struct {
	blob     []byte
	at, used time.Time
}

// get gives what is kept under key, and for how long it has been, by the clock that
// nobody sets. nil is nothing.
func (s *store) get(key string, now time.Time) (blob []byte, age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kept[key]
	if k == nil || now.Sub(k.used) >= keptFor {
		return nil, 0
	}
	k.used = now
	return k.blob, now.Sub(k.at)
}

// put keeps blob under key in place of what was there.
func (s *store) put(key string, blob []byte, now time.Time) {
	if len(key) > maxKey || len(blob) == 0 || len(blob) > maxBlob {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key)
	for len(s.kept) >= maxBlobs || len(s.kept) > 0 && s.size+len(key)+len(blob) > maxKept {
		oldest := ""
		for name, k := range s.kept {
			if o := s.kept[oldest]; o == nil || k.used.Before(o.used) {
				oldest = name
			}
		}
		s.drop(oldest)
	}
	if s.kept == nil {
		s.kept = map[string]*kept{}
	}
	s.kept[key] = &kept{blob: bytes.Clone(blob), at: now, used: now} // what was read may have more room
	s.size += len(key) + len(blob)
}

// drop takes out what is kept under key; the caller has the lock.
func (s *store) drop(key string) {
	if k := s.kept[key]; k != nil {
		s.size -= len(key) + len(k.blob)
		delete(s.kept, key)
	}
}

// sweep drops what nobody has used for long.
func (s *store) sweep(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, k := range s.kept {
		if now.Sub(k.used) >= keptFor {
			s.drop(name)
		}
	}
}

func (s *store) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept)
}
