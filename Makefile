.PHONY: help run build test fuzz soak sanitize format clean install deb

# One program with the Swift runtime inside, that runs where no Swift is installed.
release = swift build -c release --static-swift-stdlib --product understudy
program = .build/release/understudy
PREFIX ?= /usr/local

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: ## install what is missing, build and start the demo (pass options with ARGS="--fresh")
	@scripts/setup build
	@echo "==> building understudy (release; the first time takes some minutes)"
	@$(release)
	@exec .build/release/understudy demo $(ARGS)

build: ## build the program in release mode
	@scripts/setup build
	@$(release)

install: build ## put program, manual, completions and units into PREFIX (/usr/local) under DESTDIR
	@PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) scripts/install $(program)

deb: build ## build a Debian package into build/
	@scripts/make-deb $(program) build

test: ## install what the tests need and run everything
	@scripts/check

# Prints seed and count of each parser; a failure names the seed of its one input.
fuzz: ## the parsers against many more inputs (SEED=1 COUNT=200000)
	@SEED=$(or $(SEED),$$(date +%s)) COUNT=$(or $(COUNT),200000) swift test --filter FuzzTests

soak: build ## many simulated lives (SEEDS=first:count, 20,000 unless said otherwise) and the package
	@scripts/setup soak
	@swift build --build-tests
	@SIMULATION_SEEDS=$(or $(SEEDS),2000:20000) swift test --skip-build --filter Simulation
	@.venv/bin/python -m pytest -q -p no:cacheprovider Tests/Soak

# One build for each sanitizer, beside the usual one; the first time takes many minutes. The symbols
# that they may not complain of stand with their reasons in Tests/sanitizers.
sanitize: ## the rooms with C in them under the thread and the address sanitizer
	@TSAN_OPTIONS="suppressions=$(CURDIR)/Tests/sanitizers/thread.txt halt_on_error=0 exitcode=66" \
		swift test --no-parallel --sanitize=thread --scratch-path .build/thread --filter '$(SANITIZED)'
	@ASAN_OPTIONS="detect_leaks=0" \
		swift test --no-parallel --sanitize=address --scratch-path .build/address --filter '$(SANITIZED)'

SANITIZED ?= HTTPServerTests|HTTPClientTests|FuzzTests

format: ## put every Swift file into the project's format
	@swift format --in-place --parallel --recursive Package.swift Sources Tests

clean: ## remove what was built
	@rm -rf .build build Tests/output
