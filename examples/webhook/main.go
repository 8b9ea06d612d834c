// Command webhook posts a change of a host's status to a URL, as an example of what
// claude-fleet --notify can run. It reads the change, a JSON object, from standard
// input, and fails unless the other side says that it took it: then the same change,
// with the same id, is told again later.
//
//	WEBHOOK_URL=https://example.com/hooks/fleet claude-fleet status --check --notify webhook
//
// The URL, which often is a secret by itself, and a token that is to go with it
// (WEBHOOK_TOKEN) are in the environment, where no process list shows them.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

const (
	limit     = 8 * time.Second // a notify command has ten
	maxChange = 1 << 20
)

// change is what of a change is needed here; there is more in it, and more may come.
type change struct {
	ID   string `json:"id"`
	Host string `json:"host"`
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := run(ctx, os.Stdin, os.Getenv("WEBHOOK_URL"), os.Getenv("WEBHOOK_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, "webhook:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, to, token string) error {
	body, err := io.ReadAll(io.LimitReader(in, maxChange))
	if err != nil {
		return fmt.Errorf("read the change: %w", err)
	}
	var c change
	if err := json.Unmarshal(body, &c); err != nil || c.ID == "" || c.Host == "" {
		return errors.New("what is on standard input is no change of a host")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil || req.URL.Host == "" {
		return errors.New("WEBHOOK_URL is no address such as https://example.com/hooks/fleet")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", c.ID) // a change that is told twice has one id
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	// What is behind a redirect has not got the change, and may not be meant to.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // the rest of its text is the URL
	}
	if err != nil {
		return fmt.Errorf("tell of %s: %w", c.Host, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("tell of %s: the other side answered %s", c.Host, res.Status)
	}
	return nil
}
