.PHONY: help run build test pictures fuzz soak sanitize bench bench-check format clean install uninstall deb

# Programs with the Swift runtime inside. They run where no Swift is installed.
release = swift build -c release --static-swift-stdlib --product
programs = .build/release/understudy .build/release/understudy-site
PREFIX ?= /usr/local

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: ## install what is missing, build and start the demo (pass options with ARGS="--fresh")
	@scripts/setup build
	@echo "==> building understudy (release; the first time takes some minutes)"
	@$(release) understudy
	@exec .build/release/understudy demo $(ARGS)

build: ## build both programs in release mode
	@scripts/setup site
	@$(release) understudy
	@$(release) understudy-site

install: build ## put programs, manuals, completions, units and a first configuration into PREFIX (/usr/local) under DESTDIR
	@PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) scripts/install $(programs)

uninstall: ## remove what install put there; configuration and data stay
	@PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) scripts/install --remove

deb: build ## build a Debian package into build/
	@scripts/make-deb $(programs) build

test: ## install what the tests need and run everything
	@scripts/check

pictures: ## make the pictures of the README again
	@scripts/setup test
	@swift build
	@UNDERSTUDY_BINARY=$(CURDIR)/.build/debug/understudy .venv/bin/python Tests/pictures.py

# Prints seed and count for each parser. A failure names the seed of its input.
fuzz: ## run the parsers on many more inputs (SEED=1 COUNT=200000)
	@SEED=$(or $(SEED),$$(date +%s)) COUNT=$(or $(COUNT),200000) swift test --filter FuzzTests

# Proxies, requests a second that the backend takes, and seconds of outage.
fleets = 10000:500:3600,100000:5000:3600

# Tests in Python start the release programs, unless UNDERSTUDY_BINARY names another. Variables, with their
# defaults:
#   SEEDS=2000:5000          simulation runs, first seed and count
#   SHARED_SEEDS=1000:2000   the same with shared rows
#   OPERATIONS=100000        operations in the queue of the dashboard
#   PRESSES=200              presses on each view of the dashboard while the backend comes and goes
#   LIFE_SECONDS=60          killed processes (LIFE_SEED)
#   POWER_IMAGES=200         power failures (POWER_SEED)
#   FAULTS_KILLS=200         killed processes on a bad line (FAULTS_SEED)
#   DISK_FAULTS=150          failing disks (DISK_SEED)
#   NODES_ROUNDS=50          nodes on a failing PostgreSQL, with NODES_PROXIES=20 (NODES_SEED)
#   SAME_LISTS=20000         random queries on SQLite and PostgreSQL
#   FLEETS                   proxies that return: see above
#   STORE_USERS=300          users of one proxy
#   IDENTITIES=10000         stores of one proxy, with TABLES=1000 of one store
# The last step also tests the Debian package.
soak: build ## run the long tests, for hours (how much: see the variables in the Makefile)
	@scripts/setup soak
	@swift build --build-tests
	@SIMULATION_SEEDS=$(or $(SEEDS),2000:5000) SHARED_SEEDS=$(or $(SHARED_SEEDS),1000:2000) swift test --skip-build --filter Simulation
	@scripts/mutations hunt
	@OPERATIONS=$(or $(OPERATIONS),100000) .venv/bin/python -m pytest -q -s -p no:cacheprovider Tests/Browser/test_many_operations.py
	@PRESSES=$(or $(PRESSES),200) .venv/bin/python -m pytest -q -p no:cacheprovider Tests/Browser/test_press.py
	@LIFE_SECONDS=$(or $(LIFE_SECONDS),60) LIFE_SEED=$(or $(LIFE_SEED),$$(date +%s)) .venv/bin/python -m pytest -q -s -p no:cacheprovider Tests/Live/test_lives.py
	@POWER_IMAGES=$(or $(POWER_IMAGES),200) POWER_SEED=$(or $(POWER_SEED),$$(date +%s)) DISK_FAULTS=$(or $(DISK_FAULTS),150) DISK_SEED=$(or $(DISK_SEED),$$(date +%s)) .venv/bin/python -m pytest -q -s -p no:cacheprovider Tests/Live/test_power_failure.py Tests/Live/test_disk_faults.py
	@NODES_ROUNDS=$(or $(NODES_ROUNDS),50) NODES_PROXIES=$(or $(NODES_PROXIES),20) NODES_SEED=$(or $(NODES_SEED),$$(date +%s)) .venv/bin/python -m pytest -q -s -p no:cacheprovider Tests/Live/test_nodes.py
	@ALL_PAIRS=1 BACKEND_TESTS=postgresql swift test --skip-build --filter 'GenerationMatrixTests|CaptureTests'
	@FAULTS_KILLS=$(or $(FAULTS_KILLS),200) .venv/bin/python -m pytest -q -s -p no:cacheprovider Tests/Live/test_faults.py
	@SAME_LISTS=$(or $(SAME_LISTS),20000) swift test --skip-build --filter SameListsTests
	@FLEETS=$(or $(FLEETS),$(fleets)) FLEET_PICTURES=$(CURDIR)/docs/images swift test --skip-build --filter FleetTests
	@STORE_USERS=$(or $(STORE_USERS),300) .venv/bin/python -m pytest -q -p no:cacheprovider Tests/Live/test_stores.py
	@IDENTITIES=$(or $(IDENTITIES),10000) TABLES=$(or $(TABLES),1000) .venv/bin/python -m pytest -q -p no:cacheprovider Tests/Soak

# Takes half an hour on an idle machine. Try it with ARGS="--scale 0.01 --rounds 1".
bench: ## measure against the bare libraries (ARGS="--only 1,2 --rounds 5"; docs/PERFORMANCE.md)
	@scripts/setup bench
	@$(release) understudy
	@$(release) understudy-site
	@swift build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench $(ARGS)

bench-check: bench ## the same, and fail where a threshold is missed
	@Benchmarks/.build/release/bench check

# Makes one build for each sanitizer, beside the usual one; the first takes many minutes. Tests/sanitizers
# lists the suppressed symbols, each with its reason.
sanitize: ## test the modules with C under the thread and the address sanitizer
	@TSAN_OPTIONS="suppressions=$(CURDIR)/Tests/sanitizers/thread.txt halt_on_error=0 exitcode=66" \
		swift test --no-parallel --sanitize=thread --scratch-path .build/thread --filter '$(SANITIZED)'
	@ASAN_OPTIONS="detect_leaks=0" \
		swift test --no-parallel --sanitize=address --scratch-path .build/address --filter '$(SANITIZED)'

SANITIZED ?= HTTPServerTests|HTTPClientTests|FuzzTests|StorageTests|BackendTests.Row|BackendTests.Pool|BackendTests.Doubt|SyncCoreTests|ProxyTests|understudyTests

format: ## put every Swift file into the project's format
	@swift format --in-place --parallel --recursive Package.swift Sources Tests \
		Benchmarks/Package.swift Benchmarks/Sources

clean: ## remove what was built
	@rm -rf .build build Benchmarks/.build Tests/output
