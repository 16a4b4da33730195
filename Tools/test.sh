#!/usr/bin/env bash
# Runs the tests: `Tools/test.sh check|test|all`, which `make check`, `make test` (and CI) and `make test-all` call.
#
#   check  what fails soonest: layout, the model, the store contract on SQLite, the API. For a tree that is built.
#   test   what a change has to pass, from a clean clone. Both the Swift tests and the black box run what one debug build made.
#   all    everything: the black box runs the release binary, with the tests that take long, and random ones in full, for hours.
#
# It goes on after a part that failed, so that one run tells everything, and ends with one line, `tests: N passed, N failed`, and the
# exit status that goes with it. A part that is no test (set-up, layout, a build) counts as one failed test when it fails, and not at all
# otherwise.
set -uo pipefail
cd "$(dirname "$0")/.."
mode=${1:-}
case "$mode" in check | test | all) ;; *)
    echo "usage: Tools/test.sh check|test|all" >&2
    exit 2 ;;
esac
results=.build/results
rm -rf "$results"
mkdir -p "$results"
statuses=()
failed_parts=()
child=
# `timeout` leads a process group of its own, which Ctrl-C does not reach; it passes on what it is sent.
trap '[ -n "$child" ] && kill "$child" 2>/dev/null; exit 130' INT TERM

# part NAME MINUTES COMMAND…: runs the command, bounded, and reports how long it took.
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
# runner NAME MINUTES COMMAND…: a part that leaves the results of its tests in a file NAME.xml.
runner() {
    part "$@" > >(tee "$results/$1.log") 2>&1
    statuses+=("$1=$?")
}

must "set-up" 20 Tools/set-up.sh test
must "layout" 5 swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks
must "types" 5 tsc -p Tests/Web
must "types of the worker" 5 tsc -p Tests/Web/worker.json
runner web 10 node --test --test-reporter spec --test-reporter-destination stdout \
    --test-reporter ./Tests/Web/junit.js --test-reporter-destination "$results/web.xml" Tests/Web/*.test.js

# Six at a time: with all at once, a test that waits for an answer within a time waits for the processor first.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6 SWIFT_BACKTRACE=enable=yes,color=no,interactive=no
flags=(-Xswiftc -warnings-as-errors -Xcc -O2)
swift_test=(swift test --skip-build "${flags[@]}" --xunit-output "$results/swift.xml")
# Four files at once: one after another they leave more than half of two cores idle. The tests of a file stay together
# (Tests/BlackBox/pytest.ini has the markers that say which run, and when).
export PYTHONPYCACHEPREFIX=$PWD/.build/pycache
black_box=(.build/venv/bin/python -m pytest -ra -n 4 --dist loadfile --no-loadscope-reorder)

# Warnings are errors in our own targets only: SwiftPM keeps the flag away from packages of others. C is optimized: a password hash
# takes a fifth of the time, and nearly every test computes some.
if must "debug build" 30 swift build --build-tests "${flags[@]}"; then
    if [ "$mode" = check ]; then
        runner swift 5 "${swift_test[@]}" --filter '^(HesperModelTests|HesperStoreTests|HesperSQLiteTests|HouseTests)\.'
    else
        runner swift 20 "${swift_test[@]}"
    fi
fi
minutes=40
if [ "$mode" = all ]; then
    minutes=300 black_box+=(--everything)
    export HESPER_BINARY=$PWD/.build/release/hesper
    must "release build" 30 swift build -c release --product hesper
    must "release build of the trials" 5 swift build -c release --product merge-trials
else
    export HESPER_BINARY=$PWD/.build/debug/hesper
fi
if [ "$mode" = check ]; then
    runner black-box 5 "${black_box[@]}" Tests/BlackBox/api -m "not long" --junitxml="$results/black-box.xml"
else
    runner black-box $minutes "${black_box[@]}" Tests/BlackBox --junitxml="$results/black-box.xml"
    # What depends on the store once more on the other one.
    runner postgresql 20 "${black_box[@]}" Tests/BlackBox --store postgresql --junitxml="$results/postgresql.xml"
fi

exec /usr/bin/python3 Tools/count-tests.py "$results" "${statuses[@]}" "${failed_parts[@]}"
