# The two commands that the README names are `make demo` and `make test`; both
# set the machine up first (scripts/setup), saying what they install.

GO ?= go
GOLANGCI_LINT_VERSION := v2.15.0
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/claude-fleet
LINT := $(CACHE)/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint

.PHONY: build release release-check man demo shell picture docs test lint bench bench-watch fuzz chaos setup setup-test record record-diff record-judge

# The version that the binary says is that of the checkout.
build:
	$(GO) build -buildvcs=false -ldflags "-X main.version=$(shell scripts/version)" -o bin/claude-fleet ./cmd/claude-fleet

# Archives for linux and darwin on amd64 and arm64, their SBOMs and checksums, of
# the commit that is checked out, into dist.
release:
	$(GO) run ./internal/release -out dist

# The same twice, from clones of the commit, compared, examined and run.
release-check:
	$(GO) run ./internal/release -check

# The manual alone, into dist/man1.
man:
	$(GO) run -tags dist ./cmd/claude-fleet dist/man1 "$(shell scripts/version)" "$(shell TZ=UTC0 git -c log.showSignature=false log -1 --date=format-local:%Y-%m-%d --format=%cd)"

demo: setup build
	$(GO) run ./internal/demo -bin bin/claude-fleet

# The demo's fleet, left up, with a shell that sees it.
shell: setup build
	$(GO) run ./internal/demo -bin bin/claude-fleet -keep

# The terminal picture of the README, from a run over a fleet of its own: three
# minutes, since it waits until each state is a minute old.
picture: setup build
	$(GO) run ./internal/picture -bin bin/claude-fleet

# The parts of the documents that are made from the code. The same tests fail where
# a part is not what the code says.
docs:
	CLAUDE_FLEET_WRITE_DOCS=1 $(GO) test -count=1 -run '^TestDocs$$' ./pkg/fleet ./cmd/claude-fleet

# -p 1: each package of tests runs clients of its own, of 200 MB and one core. Those
# of pkg/fleet run three at once on two cores by themselves (rigtest.MoreAtOnce).
# -count=1: what is tested is the machine's sshd and tmux too, which no cache
# knows of. The two longest go first.
test: setup-test
	$(GO) vet ./...
	$(GO) test -race -count=1 -p 1 -timeout 85m ./pkg/fleet ./cmd/... ./...

setup:
	@scripts/setup demo

setup-test:
	@scripts/setup test

$(LINT):
	GOBIN=$(dir $@) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)

# The tests too have to build where the product does: vet looks at both.
lint: $(LINT)
	GOOS=darwin $(GO) vet ./...
	GOOS=freebsd $(GO) vet ./...
	$(LINT) run ./...

# What it costs to judge a screen and to read the end of a large conversation; then
# whole fleets beside OpenSSH, over real sshds on this machine. Slow is no failure, a
# wrong answer is. BENCH=short is a small fleet and two samples: only that all of it
# works. RUN='cold|poll' takes a part.
RUN ?= .
bench: setup-test build
	$(GO) test -run '^$$' -bench . -benchmem $(if $(filter short,$(BENCH)),-benchtime 3x) ./pkg/detect ./pkg/transcript
	$(GO) run ./internal/bench -bin bin/claude-fleet -run '$(RUN)' $(if $(filter short,$(BENCH)),-short)

# The large fleet, watched for WATCH; what it takes of memory is told each minute.
WATCH ?= 1h
bench-watch: setup-test build
	$(GO) run ./internal/bench -bin bin/claude-fleet -run watch -watch $(WATCH)

# Every fuzz target for FUZZTIME each.
FUZZTIME ?= 20s
fuzz:
	@scripts/fuzz $(FUZZTIME)

# Senders, links and scripts killed RUNS times at random points of a sending, and
# what became of each prompt. SEED repeats the runs of an earlier time, and FAULT
# makes those of one kind alone, such as 'kill -9 script'.
RUNS ?= 300
chaos: setup-test
	CLAUDE_FLEET_CHAOS=$(RUNS) CLAUDE_FLEET_CHAOS_SEED=$(SEED) CLAUDE_FLEET_CHAOS_FAULT='$(FAULT)' $(GO) test -v -count=1 -timeout 6h -run '^TestChaos$$' ./pkg/fleet

# The screens of any version of the client, into recordings/CLIENT-SIZE: see
# AGENTS.md, "A new version of the client".
SIZE ?= 120x40
SETTING ?= default
OUT ?= recordings
record:
	$(GO) run ./internal/record $(if $(CLIENT),-client $(CLIENT)) -size $(SIZE) -setting $(SETTING) -out $(OUT) $(if $(ONLY),-only '$(ONLY)')

# What CLIENT draws otherwise than AGAINST, which is the pinned version if not given,
# at SIZE and SETTING. Both must have been recorded into OUT first.
record-diff:
	@$(GO) run ./internal/record -diff $(if $(CLIENT),-client $(CLIENT)) $(if $(AGAINST),-against $(AGAINST)) -size $(SIZE) -setting $(SETTING) -out $(OUT)

# Asks detect about the screens of a recording anew, after a rule was changed.
record-judge:
	@$(GO) run ./internal/record -judge $(if $(CLIENT),-client $(CLIENT)) -size $(SIZE) -setting $(SETTING) -out $(OUT)
