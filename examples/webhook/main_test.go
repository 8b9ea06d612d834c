package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestWebhook posts changes, as the library writes them, to a server that takes them,
// one that does not, and one that never answers.
func TestWebhook(t *testing.T) {
	written, err := json.Marshal(fleet.StatusChange{ID: "id-1", Status: fleet.Status{Host: fleet.Host{Name: "web"}, Verdict: detect.Verdict{State: detect.Gate}}})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *http.Request, 1)
	bodies := make(chan string, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("/takes", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r
		bodies <- string(body)
	})
	mux.HandleFunc("/refuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/answers", http.StatusFound) })
	mux.HandleFunc("/answers", func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") })
	mux.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // only then is it noticed that the other side has gone
		<-r.Context().Done()
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	for _, c := range []struct {
		name, in, url string
		limit         time.Duration
		want          string // a part of the error; empty for none
	}{
		{"taken", string(written), server.URL + "/takes?key=secret-key", time.Minute, ""},
		{"refused", string(written), server.URL + "/refuses?key=secret-key", time.Minute, "tell of web: the other side answered 500"},
		{"sent elsewhere", string(written), server.URL + "/moved?key=secret-key", time.Minute, "tell of web: the other side answered 302"},
		{"never answered", string(written), server.URL + "/hangs?key=secret-key", 100 * time.Millisecond, "deadline exceeded"},
		{"nobody there", string(written), "http://127.0.0.1:1/secret-key", time.Minute, "tell of web"},
		{"no address", string(written), "secret-key", time.Minute, "WEBHOOK_URL is no address"},
		{"not even that", string(written), "http://secret-key\x00", time.Minute, "WEBHOOK_URL is no address"},
		{"no change", `{"host":"web"}`, server.URL + "/takes", time.Minute, "no change of a host"},
		{"no JSON", "web", server.URL + "/takes", time.Minute, "no change of a host"},
		{"nothing", "", server.URL + "/takes", time.Minute, "no change of a host"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			err := run(ctx, strings.NewReader(c.in), c.url, "made-up")
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if err != nil {
				if text := err.Error(); strings.Contains(text, "secret-key") || strings.Contains(text, "made-up") {
					t.Errorf("a secret shows: %s", text)
				}
				return
			}
			r := <-got
			if r.Method != http.MethodPost || r.Header.Get("Idempotency-Key") != "id-1" || r.Header.Get("Authorization") != "Bearer made-up" || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s with %v", r.Method, r.Header)
			}
			if body := <-bodies; body != string(written) {
				t.Errorf("it got %s", body)
			}
		})
	}
	if len(got) != 0 {
		t.Error("something was posted that is no change")
	}
}
