package notify

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWebhookExample runs the example with the real curl.
func TestWebhookExample(t *testing.T) {
	var body []byte
	var header http.Header
	code := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		header = r.Header
		if r.URL.Path != "/T0" {
			t.Errorf("a redirect was followed to %s", r.URL)
		}
		if code == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(code)
	}))
	defer server.Close()
	// curl's own settings of whoever runs this, a proxy above all, have no part in it.
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CURL_HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("NO_PROXY", "*")
	t.Setenv("no_proxy", "*")
	config := filepath.Join(t.TempDir(), "a hook")
	if err := os.WriteFile(config, []byte("url = \""+server.URL+"/T0\"\nheader = \"Authorization: Bearer made-up\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := Command{Line: "../../examples/webhook.sh '" + config + "'", Output: &out}
	want := asking("Bash\x1b[2J", "Yes")
	if err := c.Notify(t.Context(), want); err != nil {
		t.Fatal(err, out.String())
	}
	var got struct{ ID, Host string }
	if err := json.Unmarshal(body, &got); err != nil || got.ID != want.ID || got.Host != "web" {
		t.Errorf("%v: %s", err, body)
	}
	if header.Get("Authorization") != "Bearer made-up" || header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", header)
	}
	if out.Len() > 0 {
		t.Errorf("it said %q", out.String())
	}
	code = http.StatusInternalServerError
	if err := c.Notify(t.Context(), want); err == nil || !strings.Contains(out.String(), "500") {
		t.Errorf("refused by the server: %v, %q", err, out.String())
	}
	code = http.StatusFound
	if err := c.Notify(t.Context(), want); err == nil || !strings.Contains(out.String(), "302") {
		t.Errorf("sent elsewhere: %v, %q", err, out.String())
	}
	server.Close()
	if err := c.Notify(t.Context(), want); err == nil {
		t.Error("no server: it counts as told")
	}
}
