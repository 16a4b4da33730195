# Each command installs what it needs: see Tools/set-up.sh.
.DEFAULT_GOAL := help
.PHONY: help run check test test-all fuzz simulate faults sanitize format lint contract bench demo deb screenshots clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build, and serve on http://127.0.0.1:8080 with data in ./data (PORT=, DATA=)
	@Tools/run.sh

check: ## the quick tests: formatting, model, store contract on SQLite, API; two and a half minutes after a build
	@Tools/test.sh check

test: ## run the tests that a change must pass; ends with `tests: N passed, N failed`
	@Tools/test.sh test

test-all: ## all tests, with the release binary and full random tests: 3 million text merges, 10,000 simulated accounts, 40 long histories over HTTP
	@Tools/test.sh all

fuzz: ## send 100,000 invalid requests, none of which may cause a 5xx response (REQUESTS=, SEED=)
	@Tools/fuzz.sh

simulate: ## run simulated lives of devices (SEEDS=, FIRST=), or one life with everything that happens in it (SEED=)
	@Tools/simulate.sh

faults: ## make deliberate faults in the client and the merge, which simulated lives must notice; half an hour
	@Tools/set-up.sh run
	@Tools/faults.py

sanitize: ## run the Swift tests and some black-box tests with sanitizers (ONLY=address|thread, FILTER=)
	@Tools/sanitize.sh

format: ## format the Swift code
	swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks

lint: ## check the format of the Swift code
	swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks

contract: ## write openapi.yaml from the parts in contract/
	@Tools/set-up.sh test
	@.build/venv/bin/python contract/write.py

bench: ## run the benchmarks beside hardware limits and other servers; writes Benchmarks/RESULTS.md (ONLY="first-sync growth": some rows)
	@Benchmarks/bench.sh $(ONLY)

demo: ## import Debian's fortunes, edit on two devices offline, sync, and show the results
	@Tools/demo.sh

deb: ## build a Debian package with the service: .build/hesper_….deb
	@Tools/deb.sh

screenshots: ## take screenshots of the web app for the README, into docs/screenshots
	@Tools/screenshots.sh

clean: ## remove all build products; keeps ./data
	rm -rf .build .build-bench .build-client
