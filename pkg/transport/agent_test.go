package transport

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// hanging is an agent that reads and never answers.
type hanging struct {
	sock  string
	asked chan struct{} // closed when somebody has asked something
}

func hungAgent(t *testing.T) *hanging {
	t.Helper()
	h := &hanging{sock: filepath.Join(t.TempDir(), "agent"), asked: make(chan struct{})}
	var once sync.Once
	listenAgent(t, h.sock, func(conn net.Conn) {
		buf := make([]byte, 1024)
		for {
			if _, err := conn.Read(buf); err != nil {
				return
			}
			once.Do(func() { close(h.asked) })
		}
	})
	return h
}

// listenAgent serves the connections to a socket until the test ends.
func listenAgent(t *testing.T, sock string, serve func(net.Conn)) {
	t.Helper()
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = conn.Close() }()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
}

// securityKey is an agent with one key of the kind that has to be touched: a
// program in the place of the device that a test can't have. touch returns when
// the key is touched, with whether it was.
type securityKey struct {
	agent.Agent
	priv  ed25519.PrivateKey
	pub   ssh.PublicKey
	touch func() bool
}

const skApplication = "ssh:"

func newSecurityKey(t *testing.T, touch func() bool) *securityKey {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.ParsePublicKey(ssh.Marshal(struct {
		Type        string
		Key         []byte
		Application string
	}{ssh.KeyAlgoSKED25519, pub, skApplication}))
	if err != nil {
		t.Fatal(err)
	}
	return &securityKey{Agent: agent.NewKeyring(), priv: priv, pub: key, touch: touch}
}

func (k *securityKey) List() ([]*agent.Key, error) {
	return []*agent.Key{{Format: k.pub.Type(), Blob: k.pub.Marshal(), Comment: "a security key"}}, nil
}

// Sign makes what PROTOCOL.u2f of OpenSSH describes.
func (k *securityKey) Sign(_ ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	if !k.touch() {
		return nil, errors.New("not touched")
	}
	app, message := sha256.Sum256([]byte(skApplication)), sha256.Sum256(data)
	const present, counter = 1, 7
	signed := append(app[:], present, 0, 0, 0, counter)
	return &ssh.Signature{
		Format: ssh.KeyAlgoSKED25519,
		Blob:   ed25519.Sign(k.priv, append(signed, message[:]...)),
		Rest:   []byte{present, 0, 0, 0, counter},
	}, nil
}

func (k *securityKey) SignWithFlags(key ssh.PublicKey, data []byte, _ agent.SignatureFlags) (*ssh.Signature, error) {
	return k.Sign(key, data)
}

// TestSecurityKey has the user told to touch the key that waits for it.
func TestSecurityKey(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, s *server, touch func() bool) string {
		k := newSecurityKey(t, touch)
		write(t, s.path("authorized_keys"), string(ssh.MarshalAuthorizedKey(k.pub)))
		sock := filepath.Join(t.TempDir(), "agent")
		listenAgent(t, sock, func(conn net.Conn) { _ = agent.ServeAgent(k, conn) })
		return sock
	}
	t.Run("touched when told", func(t *testing.T) {
		s := startServer(t)
		told := make(chan struct{})
		sock := start(t, s, func() bool {
			select {
			case <-told:
				return true
			case <-t.Context().Done():
				return false
			}
		})
		p := newPool(t, Options{Warn: func(_ Endpoint, text string) {
			wantText(t, text, "touch your security key", "127.0.0.1")
			close(told)
		}})
		succeed(t, p, s.only(s.path("nothing"), "IdentityAgent "+sock))
	})
	t.Run("touched at once", func(t *testing.T) {
		s := startServer(t)
		sock := start(t, s, func() bool { return true })
		p := newPool(t, Options{Warn: func(_ Endpoint, text string) { t.Errorf("said %q", text) }})
		succeed(t, p, s.only(s.path("nothing"), "IdentityAgent "+sock))
	})
	t.Run("not touched, and another key after it", func(t *testing.T) {
		s := startServer(t)
		authorized, err := os.ReadFile(s.path("authorized_keys"))
		if err != nil {
			t.Fatal(err)
		}
		sock := start(t, s, func() bool { return false })
		err2 := refusal(t, newPool(t, Options{}), s.only(s.path("nothing"), "IdentityAgent "+sock), KindAuth)
		wantText(t, err2.Hint, "the agent did not sign")
		sk, err := os.ReadFile(s.path("authorized_keys"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, s.path("authorized_keys"), string(sk)+string(authorized))
		succeed(t, newPool(t, Options{}), s.endpoint("IdentityAgent "+sock))
	})
	t.Run("never touched ends with the call", func(t *testing.T) {
		s := startServer(t)
		stop := make(chan struct{})
		sock := start(t, s, func() bool { <-stop; return false })
		defer close(stop)
		_, err := newPool(t, Options{DialTimeout: 1e9}).Conn(s.only(s.path("nothing"), "IdentityAgent "+sock)).Run(t.Context(), Script{Text: ":"})
		if k, _ := KindOf(err); k != KindTimeout {
			t.Errorf("got %v", err)
		}
	})
}

// TestFewTries holds that what is not a key does not count as a try.
func TestFewTries(t *testing.T) {
	t.Parallel()
	s := startServer(t, "MaxAuthTries 1", "PasswordAuthentication yes")
	succeed(t, newPool(t, Options{}), s.endpoint())
	wrong := s.path("wrong")
	newKey(t, wrong)
	err := refusal(t, newPool(t, Options{}), s.endpoint("IdentityFile "+wrong), KindAuth)
	wantText(t, err.Error(), "too many tries, after 1 key was offered")
}

// TestExpiredCertificate names the certificate and its date.
func TestExpiredCertificate(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.stop()
	sshKeygen(t, s.path("ca"), "-t", "ed25519")
	text, err := os.ReadFile(s.path("authorized_keys"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.path("id.pub"), string(text))
	sshKeygenSign(t, s, "-V", "20200101000000Z:20200102000000Z")
	write(t, s.path("authorized_keys"), "")
	s.config = append(s.config, "TrustedUserCAKeys "+s.path("ca.pub"))
	s.start()
	rerr := refusal(t, newPool(t, Options{}), s.endpoint(), KindAuth)
	wantText(t, rerr.Hint, s.path("id-cert.pub")+" expired on 2020-01-02T00:00:00Z")
	sshKeygenSign(t, s, "-V", "20200101:20990101")
	succeed(t, newPool(t, Options{}), s.endpoint())
}

func sshKeygenSign(t *testing.T, s *server, args ...string) {
	t.Helper()
	args = append([]string{"-q", "-s", s.path("ca"), "-I", "me", "-n", userName(t)}, args...)
	if out, err := exec.Command("ssh-keygen", append(args, s.path("id.pub"))...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestAgentThatRefuses has ssh-agent itself say no: a key added with -c needs a
// confirmation that nobody gives.
func TestAgentThatRefuses(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	sock := startAgent(t)
	add := exec.Command("ssh-add", "-q", "-c", s.client)
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+sock)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	err := refusal(t, newPool(t, Options{}), s.only("none", "IdentityAgent "+sock), KindAuth)
	wantText(t, err.Error(), "takes the key agent for "+userName(t)+", but the agent did not sign")
	wantText(t, err.Hint, "agent: the agent did not sign", "taken, but not signed with: agent SHA256:")
	if strings.Contains(err.Hint, "refused") {
		t.Errorf("hint %q", err.Hint)
	}
}
