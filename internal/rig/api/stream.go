package api

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// object is any JSON object of the API.
type object = map[string]any

// reply is the answer to one request, sent block by block. It writes
// server-sent events where the client asked for a stream, and one JSON message
// at the end where it did not.
type reply struct {
	w       http.ResponseWriter
	stream  bool
	message object
	blocks  []any
	started bool
	open    bool
	text    string
	err     error
}

func newReply(w http.ResponseWriter, req *wireRequest, id string, promptTokens int) *reply {
	return &reply{w: w, stream: req.Stream, message: object{
		"id": id, "type": "message", "role": "assistant", "model": req.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": promptTokens, "output_tokens": 1},
	}}
}

// event writes one server-sent event and flushes it, so that the client shows
// it at once. The first failure sticks.
func (r *reply) event(name string, data object) {
	if r.err != nil || !r.stream {
		return
	}
	data["type"] = name
	raw, err := json.Marshal(data)
	if err == nil {
		_, err = fmt.Fprintf(r.w, "event: %s\ndata: %s\n\n", name, raw)
	}
	if err == nil {
		err = http.NewResponseController(r.w).Flush()
	}
	r.err = err
}

// ping keeps a silent stream alive: the client gives up on one that says
// nothing for long.
func (r *reply) ping() { r.event("ping", object{}) }

func (r *reply) start() {
	if r.started {
		return
	}
	r.started = true
	if r.stream {
		r.w.Header().Set("Content-Type", "text/event-stream")
		r.w.Header().Set("Cache-Control", "no-cache")
		r.w.WriteHeader(http.StatusOK)
	}
	r.event("message_start", object{"message": r.message})
}

// say adds words to the text block, opening it first where none is open.
func (r *reply) say(words string) {
	r.start()
	if !r.open {
		r.open, r.text = true, ""
		r.event("content_block_start", object{
			"index": len(r.blocks), "content_block": object{"type": "text", "text": ""},
		})
	}
	r.text += words
	r.event("content_block_delta", object{
		"index": len(r.blocks), "delta": object{"type": "text_delta", "text": words},
	})
}

func (r *reply) closeText() {
	if !r.open {
		return
	}
	r.event("content_block_stop", object{"index": len(r.blocks)})
	r.blocks = append(r.blocks, object{"type": "text", "text": r.text})
	r.open = false
}

// think sends a whole block of thinking. A made-up signature does: nobody here
// checks it.
func (r *reply) think(words string) {
	r.start()
	r.closeText()
	r.event("content_block_start", object{"index": len(r.blocks), "content_block": object{"type": "thinking", "thinking": ""}})
	r.event("content_block_delta", object{"index": len(r.blocks), "delta": object{"type": "thinking_delta", "thinking": words}})
	r.event("content_block_delta", object{"index": len(r.blocks), "delta": object{"type": "signature_delta", "signature": "bWFkZSB1cA=="}})
	r.event("content_block_stop", object{"index": len(r.blocks)})
	r.blocks = append(r.blocks, object{"type": "thinking", "thinking": words, "signature": "bWFkZSB1cA=="})
}

// use adds a tool_use block, whose input goes out as one piece.
func (r *reply) use(id, tool string, input object) {
	r.start()
	r.closeText()
	raw, err := json.Marshal(input)
	if err != nil {
		r.err = err
		return
	}
	r.event("content_block_start", object{"index": len(r.blocks), "content_block": object{
		"type": "tool_use", "id": id, "name": tool, "input": object{},
	}})
	r.event("content_block_delta", object{"index": len(r.blocks), "delta": object{
		"type": "input_json_delta", "partial_json": string(raw),
	}})
	r.event("content_block_stop", object{"index": len(r.blocks)})
	r.blocks = append(r.blocks, object{"type": "tool_use", "id": id, "name": tool, "input": input})
}

// finish ends the message: stop is `end_turn` or `tool_use`.
func (r *reply) finish(stop string) error {
	r.start()
	r.closeText()
	// The numbers only have to be steady: four characters to a token.
	tokens := 1
	for _, b := range r.blocks {
		raw, _ := json.Marshal(b)
		tokens += len(raw) / 4
	}
	r.event("message_delta", object{
		"delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{"output_tokens": tokens},
	})
	r.event("message_stop", object{})
	if r.stream {
		return r.err
	}
	r.message["content"], r.message["stop_reason"] = r.blocks, stop
	r.message["usage"] = object{"input_tokens": 1, "output_tokens": tokens}
	return writeJSON(r.w, http.StatusOK, r.message)
}

func writeJSON(w http.ResponseWriter, status int, body any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(body)
}
