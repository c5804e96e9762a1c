.PHONY: help run build test fuzz soak bench bench-check format clean

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: ## install what is missing, build and start the demo (pass options with ARGS="--fresh")
	@scripts/setup build
	@echo "==> building understudy (release; the first time takes some minutes)"
	@swift build -c release --product understudy
	@exec .build/release/understudy demo $(ARGS)

build: ## build the program in release mode
	@scripts/setup build
	@swift build -c release --product understudy

test: ## install what the tests need and run everything
	@scripts/check

# Prints seed and count of each parser; a failure names the seed of its one input.
fuzz: ## the parsers against many more inputs (SEED=1 COUNT=200000)
	@SEED=$(or $(SEED),$$(date +%s)) COUNT=$(or $(COUNT),200000) swift test --filter FuzzTests

soak: ## many simulated lives (SEEDS=first:count, 20,000 unless said) and a queue of OPERATIONS=100000
	@swift build --build-tests
	@SIMULATION_SEEDS=$(or $(SEEDS),2000:20000) swift test --skip-build --filter Simulation
	@swift build -c release --product understudy
	@OPERATIONS=$(or $(OPERATIONS),100000) .venv/bin/python -m pytest -q -s -p no:cacheprovider Tests/Browser/test_many_operations.py

# Half an hour on a machine that does nothing else. Try it out with ARGS="--scale 0.01 --rounds 1".
bench: ## measure against the bare libraries (ARGS="--only 1,2 --rounds 5"; docs/PERFORMANCE.md)
	@scripts/setup bench
	@swift build -c release --product understudy
	@swift build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench $(ARGS)

bench-check: bench ## the same, and fail where a threshold is missed
	@Benchmarks/.build/release/bench check

format: ## put every Swift file into the project's format
	@swift format --in-place --parallel --recursive Package.swift Sources Tests \
		Benchmarks/Package.swift Benchmarks/Sources

clean: ## remove what was built
	@rm -rf .build Benchmarks/.build Tests/output
