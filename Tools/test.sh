#!/usr/bin/env bash
# Every check there is, from a clean clone: `make test` and CI call this. It goes on after a part that failed, so that
# one run tells everything, and ends with one line, `tests: N passed, N failed`, and the exit status that goes with it.
# `Tools/test.sh --everything` (`make test-all`) runs the random tests in full, which takes hours.
# A part that is no test (set-up, layout, a build) counts as one failed test when it fails, and not at all otherwise.
set -uo pipefail
cd "$(dirname "$0")/.."
results=.build/results
rm -rf "$results"
mkdir -p "$results"
failed_parts=()
child=
# `timeout` leads a process group of its own, which Ctrl-C does not reach; it passes on what it is sent.
trap '[ -n "$child" ] && kill "$child" 2>/dev/null; exit 130' INT TERM

# part NAME MINUTES COMMAND…: runs the command, bounded, and says how long it took.
part() {
    local name=$1 minutes=$2 begin=$SECONDS status
    shift 2
    echo "==> $name: $*"
    timeout --kill-after=30 "${minutes}m" "$@" &
    child=$!
    wait "$child"
    status=$?
    [ $status -eq 124 ] && echo "==> $name: stopped after $minutes minutes"
    echo "==> $name: exit $status after $((SECONDS - begin)) s"
    return $status
}
must() { part "$@" || { failed_parts+=("$1"); return 1; }; }

python=.build/venv/bin/python
must "set-up" 20 Tools/set-up.sh test
must "layout" 5 swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks
must "types" 5 tsc -p Tests/Web
must "types of the worker" 5 tsc -p Tests/Web/worker.json
part "web model" 10 node --test --test-reporter spec --test-reporter-destination stdout \
    --test-reporter ./Tests/Web/junit.js --test-reporter-destination "$results/web.xml" Tests/Web/*.test.js
web_status=$?
# Warnings are errors in our own targets only: SwiftPM keeps the flag away from packages of others.
if must "debug build" 30 swift build --build-tests -Xswiftc -warnings-as-errors; then
    # Six at a time: with all at once, whoever waits for an answer within a time waits for the processor first.
    part "swift test" 20 env SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6 swift test --skip-build -Xswiftc -warnings-as-errors --xunit-output "$results/swift.xml"
    swift_status=$?
else
    swift_status=0
fi
# Four files at once: one after another they leave more than half of two cores idle. The tests of a file stay together, and
# conftest.py says which file comes when.
black_box=("$python" -m pytest Tests/BlackBox -ra -n 4 --dist loadfile --no-loadscope-reorder)
if must "release build" 30 swift build -c release --product hesper &&
    must "release build of the trials" 5 swift build -c release --product merge-trials; then
    minutes=40
    [ "${1:-}" = --everything ] && minutes=300 black_box+=(--everything)
    part "black box" $minutes "${black_box[@]}" --junitxml="$results/pytest.xml"
    pytest_status=$?
    # What depends on the store once more on the other one (conftest.py says what that is).
    part "black box on PostgreSQL" 20 "${black_box[@]}" --store postgresql --junitxml="$results/postgresql.xml"
    postgresql_status=$?
else
    pytest_status=0 postgresql_status=0
fi

exec /usr/bin/python3 Tools/count-tests.py "$results" "$web_status" "$swift_status" "$pytest_status" \
    "$postgresql_status" "${failed_parts[@]}"
