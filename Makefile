# colony: make demo | test | check | security | fuzz | damage | many | kill | chaos | bench | servers | install
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -ldflags "-X main.version=$(VERSION)"
GOPLS := v0.23.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
RACE := $(shell command -v $${CC:-gcc} >/dev/null 2>&1 && echo -race)
DATADIR := $(CURDIR)/.cache
MEMORY := $(firstword $(wildcard /dev/shm) /tmp)

.PHONY: demo build test check security fuzz damage many kill chaos bench servers install

build:
	@$(GO) build $(LDFLAGS) -o bin/colony ./cmd/colony

demo: build
	@bin/colony demo

# The tests need Go, git and bash; modules come pinned by go.sum. Those that talk to real servers of others are skipped
# where there is no npm. Those of cmd/colony run the command as a person does, built without the race detector.
test:
	@$(MAKE) --no-print-directory servers || echo "not all real servers could be installed: tests that talk to the others are skipped"
	@$(if $(RACE),echo "tests run with the race detector",echo "tests run without the race detector: no C compiler was found")
	@failed=0; \
	$(GO) test $(RACE) -timeout 60m $$($(GO) list ./... | grep -v '/cmd/colony$$') || failed=1; \
	$(GO) test -timeout 60m ./cmd/colony || failed=1; \
	exit $$failed

check:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt -w on these"; exit 1; }
	@$(GO) vet ./...
	@GOBIN=$(DATADIR)/bin $(GO) install $(STATICCHECK) && $(DATADIR)/bin/staticcheck ./...
	@$(GO) mod tidy -diff
	@$(MAKE) --no-print-directory test

# Real servers for tests: a language server for Go, and what testdata/servers/package.json pins.
SERVERS := $(DATADIR)/servers
servers: $(DATADIR)/bin/gopls-$(GOPLS) $(if $(shell command -v npm),$(SERVERS)/installed)

$(DATADIR)/bin/gopls-$(GOPLS):
	@GOBIN=$(DATADIR)/bin $(GO) install golang.org/x/tools/gopls@$(GOPLS) && touch $@

$(SERVERS)/installed: testdata/servers/package.json testdata/servers/package-lock.json
	@mkdir -p $(SERVERS) && cp $^ $(SERVERS)
	@npm_config_cache=$(DATADIR)/npm npm ci --prefix $(SERVERS) --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel error >/dev/null && touch $@

# What docs/security.md says, measured now: each row is from a test that fails where its goal is missed, but for S10, a time.
security:
	@mkdir -p $(DATADIR)
	@COLONY_LOOKS=all $(GO) test ./guard ./guard/sandbox ./guard/egress ./repo ./cmd/colony -p 1 -v -count 1 -timeout 30m \
		-run 'TestLines|Ordinary|TestVectors|NoEffectOutside|TestCostOfACommand|NoSpelling|TableOfAddresses|TestNoSetUp|HostileRepositoriesBefore|Canar|TestAnAntDecides' \
		>$(DATADIR)/security.txt 2>&1 || { grep -E '^ *(--- FAIL|[a-z_]+_test.go)' $(DATADIR)/security.txt | grep -v 'security:'; exit 1; }
	@sed -n 's/.*security: //p' $(DATADIR)/security.txt | sort -V | awk -F ' [|] ' 'BEGIN {printf "%-5s%-78s%-28s%s\n", "", "WHAT", "MEASURED", "GOAL"} {printf "%-5s%-78s%-28s%s\n", $$1, $$2, $$3, $$4}'

# Each byte of a log's last group cut, and 10,000 bits flipped; the points of failpoint in the rooms that have most of them; a
# process killed 1,000 times in its edits, and 1,000 batches of edits of one file under several names.
damage:
	@COLONY_DAMAGE=all TMPDIR=$(MEMORY) $(GO) test ./tools/builtin -run 'TestGivenKills|TestGivenSpellings' -v -count 1 -timeout 60m | grep -v '^=== '
	@COLONY_DAMAGE=all $(GO) test ./event -run 'CutAtEveryByte|FlippedBits' -v -count 1 -timeout 60m | grep -v '^=== '
	@$(GO) test -tags failpoints ./failpoint ./event ./repo -count 1 -timeout 10m
	@$(GO) test -tags failpoints ./cmd/colony -run TestKilledWhile -count 1 -timeout 10m

# Ants hatched at once, two colonies beside a committing user, and random actions on random repositories, so many rounds.
ROUNDS ?= 20
many:
	@COLONY_ROUNDS=$(ROUNDS) $(GO) test $(RACE) ./repo -run 'HatchedAtOnce|TwoColonies|NothingOfTheUsers' -v -count 1 -timeout 2h | grep -v '^=== '

# The command killed at so many points of each scenario, half of them named ones, and resumed until the run ends.
KILL ?= 100
kill:
	@COLONY_KILL=$(KILL) $(GO) test ./cmd/colony -run TestKillAnywhere -v -count 1 -timeout 6h | grep -v '^=== '

# Random shell against the guard and a real bash, in a sandbox: a minute at a push, 10m where the reader changed. A million
# random edits of random files, in memory where there is such a place; edits, ranges and search patterns, a minute each. Then
# streams of models, cut anywhere and broken in any way.
FUZZ ?= 60s
EDITS ?= 1000000
fuzz:
	@COLONY_FUZZ=$(FUZZ) $(GO) test ./guard -run TestRandomShell -v -count 1 -timeout 24h
	@$(GO) test ./guard/shell -run '^$$' -fuzz FuzzParse -fuzzminimizetime 1x -fuzztime $(FUZZ)
	@COLONY_EDITS=$(EDITS) TMPDIR=$(MEMORY) $(GO) test ./tools/builtin -run TestRandomEdits -v -count 1 -timeout 4h | grep -v '^=== '
	@for target in FuzzEdit FuzzRead FuzzFind; do \
		TMPDIR=$(MEMORY) $(GO) test ./tools/builtin -run '^$$' -fuzz "^$$target$$" -fuzzminimizetime 1x -fuzztime $(FUZZ) || exit 1; done
	@for target in FuzzParseFile FuzzVisible; do \
		$(GO) test ./mcp -run '^$$' -fuzz "^$$target$$" -fuzzminimizetime 1x -fuzztime $(FUZZ) || exit 1; done
	@$(GO) test ./lsp -run '^$$' -fuzz FuzzServer -fuzzminimizetime 1x -fuzztime $(FUZZ)
	@for at in openai:FuzzChat openai:FuzzResponses anthropic:FuzzStream ollama:FuzzStream; do \
		$(GO) test ./model/$${at%:*} -run '^$$' -fuzz "^$${at#*:}$$" -fuzzminimizetime 1x -fuzztime $(FUZZ) || exit 1; done

# 32 ants on all wires against a model of which three attempts in ten go wrong, for so long.
CHAOS ?= 2m
chaos:
	@COLONY_CHAOS=$(CHAOS) $(GO) test ./cmd/colony -run TestChaos -v -count 1 -timeout 30m | grep -v '^=== '

# One table of figures; COLONY_BENCH=hot|files measures only the rows so named.
bench: build
	@$(GO) test ./cmd/colony -run '^$$' -bench Table -benchtime 1x -count 1 -timeout 20m

install:
	@$(GO) install $(LDFLAGS) ./cmd/colony
