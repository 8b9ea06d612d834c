package relay

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// maxHeader bounds the JSON of a frame. An environment is the longest of it,
	// and the kernel lets none be longer than a few MiB.
	maxHeader = 8 << 20
	// maxBody bounds what follows: a script, or both streams of a result, which
	// transport bounds to 32 MiB each.
	maxBody = 64<<20 + 1<<10
	// maxGreeting bounds frames of a peer of which nothing is known yet.
	maxGreeting = 64 << 10
)

// kind says what a frame is. The first two, ask and stop do not change between
// versions.
type kind byte

const (
	kindHello kind = 'h' // both ways: hello
	kindAsk   kind = 'i' // to the server: tell about yourself
	kindStop  kind = 'z' // to the server: take no more calls, and end when those are over
	kindInfo  kind = 'I' // from the server: Info

	kindRun    kind = 'r' // to the server: request, and the script
	kindAnswer kind = 'a' // to the server: reply, and the answer
	kindCancel kind = 'c' // to the server: cancel
	kindRecall kind = 'R' // to the server: recall
	kindKeep   kind = 'k' // to the server, behind a recall: what is to be kept

	kindRecalled   kind = 'K' // from the server: recalled, and what was kept
	kindAlive      kind = '.' // from the server: the call goes on
	kindWarn       kind = 'w' // from the server: warning
	kindQuestion   kind = 'q' // from the server: question
	kindWithdraw   kind = 'x' // from the server: reply, to a question that needs no answer any more
	kindNotCarried kind = 'n' // from the server: refusal; nothing was run
	kindFailed     kind = 'e' // from the server: failure
	kindDone       kind = 'd' // from the server: outcome, and both streams
)

// frame is one message.
type frame struct {
	kind   kind
	header []byte // JSON
	body   []byte
}

var errFrame = errors.New("what came is no frame")

// writeFrame writes one frame in one Write.
func writeFrame(w io.Writer, k kind, header any, bodies ...[]byte) error {
	h, err := json.Marshal(header)
	if err != nil {
		return err
	}
	n := 0
	for _, b := range bodies {
		n += len(b)
	}
	if len(h) > maxHeader || n > maxBody {
		return fmt.Errorf("a frame of %d and %d bytes is too long", len(h), n)
	}
	out := make([]byte, 0, 9+len(h)+n)
	out = append(out, byte(k))
	out = binary.BigEndian.AppendUint32(out, uint32(len(h)))
	out = binary.BigEndian.AppendUint32(out, uint32(n))
	out = append(out, h...)
	for _, b := range bodies {
		out = append(out, b...)
	}
	_, err = w.Write(out)
	return err
}

// readFrame reads one frame, of which header and body may have most bytes at most.
// What a peer says about lengths costs no memory before it has sent as much.
func readFrame(r io.Reader, most int) (frame, error) {
	head, err := readHead(r)
	if err != nil {
		return frame{}, err
	}
	return head.read(r, most)
}

// head is the kind of a frame and the lengths of its header and its body.
type head [9]byte

func readHead(r io.Reader) (head, error) {
	var h head
	_, err := io.ReadFull(r, h[:])
	return h, err
}

func (h head) kind() kind { return kind(h[0]) }

// read reads the rest of the frame.
func (h head) read(r io.Reader, most int) (frame, error) {
	n, b := int64(binary.BigEndian.Uint32(h[1:])), int64(binary.BigEndian.Uint32(h[5:]))
	if n > int64(min(most, maxHeader)) || b > int64(min(most, maxBody)) {
		return frame{}, fmt.Errorf("%w: it has %d and %d bytes", errFrame, n, b)
	}
	f := frame{kind: h.kind()}
	var err error
	if f.header, err = readPart(r, n); err == nil {
		f.body, err = readPart(r, b)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

func readPart(r io.Reader, n int64) ([]byte, error) {
	var buf bytes.Buffer
	_, err := io.CopyN(&buf, r, n)
	return buf.Bytes(), err
}

// into reads the header of a frame.
func (f frame) into(v any) error {
	if err := json.Unmarshal(f.header, v); err != nil {
		return fmt.Errorf("%w: %c: %w", errFrame, f.kind, err)
	}
	return nil
}
