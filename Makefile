# Needs Go and make, nothing else.

OUTPUT  ?= _output
BIN     := $(OUTPUT)/bin
RELEASE ?= $(shell git describe --tags --always --abbrev=12 --dirty 2>/dev/null || echo unknown)
FUZZTIME ?= 10s
COMMANDS ?= ./cmd/...
VULNDB ?= https://vuln.go.dev

# The same source gives the same bytes, wherever it is built.
BUILD := CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.release=$(RELEASE)"

# These have many dependencies, so they are no tools of go.mod.
LINT_VERSION := v2.15.0
LINT         := $(BIN)/golangci-lint-$(LINT_VERSION)
SBOM_VERSION := v1.10.0
SBOM         := $(BIN)/cyclonedx-gomod-$(SBOM_VERSION)
VULN_VERSION := v1.9.0
VULN         := $(BIN)/govulncheck-$(VULN_VERSION)

.PHONY: help build run test check fmt lint sbom vuln generate bench fuzz rpm man e2e crash clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the commands into _output/bin
	$(BUILD) -o $(BIN)/ $(COMMANDS)

run: COMMANDS = ./cmd/microshift-feature-gates
run: build ## show the main job on a sample device, in _output/sample
	@PATH="$(abspath $(BIN)):$$PATH" test/sample/tour.sh $(OUTPUT)/sample

test: ## run all tests, the examples of the documents included
	go test -timeout 30m ./...

check: lint ## format, vet, lint; modules and generated files up to date
	@files=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || echo .)); test -z "$$files" || { echo "not formatted, run make fmt:"; echo "$$files"; exit 1; }
	go vet -tags e2e ./...
	go -C assets/generate vet .
	go mod tidy -diff
	go -C assets/generate mod tidy -diff
	go -C assets/generate run . -check
	go test -count=1 -run TestCommandReference ./test

fmt: ## format the sources
	gofmt -w cmd pkg assets test

lint: $(LINT)
	$(LINT) run ./...

$(LINT):
	mkdir -p $(BIN)
	GOBIN="$(abspath $(BIN))" GOFLAGS= go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(BIN)/golangci-lint $(LINT)

sbom: build $(SBOM) ## write what is linked into each command, as CycloneDX, to _output/sbom
	mkdir -p $(OUTPUT)/sbom
	@set -e; for command in $$(go list -f '{{.Dir}}' $(COMMANDS)); do \
		name=$$(basename $$command); \
		$(SBOM) bin -json -std -noserial -notimestamp -version $(RELEASE) -output $(OUTPUT)/sbom/$$name.cdx.json $(BIN)/$$name; \
	done

$(SBOM):
	mkdir -p $(BIN)
	GOBIN="$(abspath $(BIN))" GOFLAGS= go install -trimpath github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(SBOM_VERSION)
	mv $(BIN)/cyclonedx-gomod $(SBOM)

vuln: $(VULN) ## look for known vulnerabilities in what is used; asks VULNDB
	$(VULN) -db $(VULNDB) ./...

$(VULN):
	mkdir -p $(BIN)
	GOBIN="$(abspath $(BIN))" GOFLAGS= go install golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION)
	mv $(BIN)/govulncheck $(VULN)

generate: ## make the generated files anew: assets (takes minutes) and docs/cli
	go -C assets/generate run .
	go test -count=1 -run TestCommandReference ./test -update

bench: ## measure
	go test -run '^$$' -bench . -benchmem ./...

fuzz: ## run each fuzz test for FUZZTIME (10s)
	@set -e; for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "== $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

rpm: ## build the RPM packages; needs rpmbuild
	packaging/rpm/build.sh $(OUTPUT)

man: COMMANDS = ./cmd/microshift-feature-gates
man: build ## write the manual pages to _output/man
	go run ./packaging/man $(BIN)/microshift-feature-gates $(OUTPUT)/man

e2e: ## test on real components and a real systemd; as root, takes long when cold
	go test -tags e2e -count=1 -p 1 -v -timeout 60m ./test/e2e/...

crash: ## test starts that are killed, a failing disk, many at once, hostile devices, and what is shipped; needs strace
	go test -tags e2e -count=1 -v -timeout 60m $(CRASHFLAGS) ./test/trust

clean: ## remove what was built
	rm -rf $(OUTPUT)
