# Each command does its own set-up: see Tools/set-up.sh.
.DEFAULT_GOAL := help
.PHONY: help run check test test-all fuzz sanitize format lint contract bench demo deb screenshots clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## install what is missing, build, and serve on http://127.0.0.1:8080 with data in ./data (PORT=, DATA=)
	@Tools/run.sh

check: ## the tests that fail soonest: layout, model, store contract on SQLite, API; two or three minutes in a tree that is built
	@Tools/test.sh check

test: ## install what is missing and run what a change has to pass; ends with `tests: N passed, N failed`
	@Tools/test.sh test

test-all: ## everything, with the release binary and the random tests in full: 3 million merges of texts, 10,000 lives, 40 long histories over HTTP
	@Tools/test.sh all

fuzz: ## send 100,000 requests with something wrong, of which none may be answered with a 5xx (REQUESTS=, SEED=)
	@Tools/fuzz.sh

sanitize: ## run the Swift tests, and some of the black box, with sanitizers built in (ONLY=address|thread, FILTER=)
	@Tools/sanitize.sh

format: ## lay the Swift code out
	swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks

lint: ## check the layout of the Swift code
	swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks

contract: ## write openapi.yaml from the parts in contract/
	@Tools/set-up.sh test
	@.build/venv/bin/python contract/write.py

bench: ## measure against limits and peers, interleaved; writes Benchmarks/RESULTS.md (ONLY="first-sync growth": some rows)
	@Benchmarks/bench.sh $(ONLY)

demo: ## import Debian's fortunes, edit on two devices offline, sync, and show what came of it
	@Tools/demo.sh

deb: ## build and pack a Debian package: .build/hesper_….deb, with the service
	@Tools/deb.sh

screenshots: ## take pictures of the web app for the README, into docs/screenshots
	@Tools/screenshots.sh

clean: ## remove everything built; keeps ./data
	rm -rf .build .build-bench
