.PHONY: help run build test check soak format clean

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

soak: ## live through many simulated lives (SEEDS=first:count, 20,000 unless said otherwise)
	@swift build --build-tests
	@SIMULATION_SEEDS=$(or $(SEEDS),2000:20000) swift test --skip-build --filter Simulation

format: ## put every Swift file into the project's format
	@swift format --in-place --parallel --recursive Package.swift Sources Tests

clean: ## remove what was built
	@rm -rf .build Tests/output
