#!/usr/bin/env bash
# Runs the tests: `Tools/test.sh check|test|all`. Called by `make check`, `make test` (and CI) and `make test-all`.
#
#     check  the quick tests: formatting, the model, the store contract on SQLite, the API. For a tree that is already built.
#     test   the tests that a change must pass, from a clean clone. Swift tests and black-box tests use the same debug build.
#     all    all tests: the black-box tests use the release binary and include slow and full random tests. Takes hours.
#
# It continues after a failed part, so that one run reports all failures. The last line is `tests: N passed, N failed`, and the
# exit status matches it. A part that is not a test (set-up, formatting, a build) counts as one failed test if it fails.
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
# `timeout` runs in its own process group, which Ctrl-C does not reach. It forwards signals to the command.
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM

# part NAME MINUTES COMMAND…: runs the command with a timeout and prints its duration.
part() {
    local name=$1 minutes=$2 begin=$SECONDS status
    shift 2
    echo "==> $name: $*"
    timeout --kill-after=30 "${minutes}m" "$@" &
    wait $!
    status=$?
    [ $status -eq 124 ] && echo "==> $name: stopped after $minutes minutes"
    echo "==> $name: exit $status after $((SECONDS - begin)) s"
    return $status
}
# behind NAME MINUTES COMMAND…: a part in the background, whose output goes to NAME.log. `$!` is its process.
behind() {
    (trap 'kill $(jobs -p) 2>/dev/null' TERM; part "$@") > "$results/$1.log" 2>&1 &
}
must() { part "$@" || { failed_parts+=("$1"); return 1; }; }
# runner NAME MINUTES COMMAND…: a part that writes the results of its tests to NAME.xml.
runner() {
    part "$@" > >(tee "$results/$1.log") 2>&1
    statuses+=("$1=$?")
}

# The checks of the web app's code, in the foreground while other parts run.
web_code() {
    must "types" 5 tsc -p Tests/Web
    must "types of the worker" 5 tsc -p Tests/Web/worker.json
    runner web 10 node --test --test-reporter spec --test-reporter-destination stdout \
        --test-reporter ./Tests/Web/junit.js --test-reporter-destination "$results/web.xml" Tests/Web/*.test.js
}

# The build needs a few packages only. The others are installed, and the formatting is checked, while it runs.
must "set-up of the build" 20 Tools/set-up.sh run
behind "set-up" 20 Tools/set-up.sh test
set_up=$!
behind "formatting" 5 nice swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks Examples
formatting=$!

# At most six tests at a time. With more, tests with a timeout would mostly wait for the processor.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6 SWIFT_BACKTRACE=enable=yes,color=no,interactive=no
# With optimized C (BoringSSL, llhttp), the build takes 25 s longer, and the black-box tests 8 % less.
flags=(-Xswiftc -warnings-as-errors -Xcc -O2 -debug-info-format none)
# The program of the tests, because only one `swift test` can run at a time.
swift_test=(env NO_COLOR=1 .build/debug/hesperPackageTests.xctest --testing-library swift-testing --xunit-output)
# Six files at a time, because a single one uses less than half of two cores. Tests of one file run in the same worker (see the
# markers in Tests/BlackBox/pytest.ini).
export PYTHONPYCACHEPREFIX=$PWD/.build/pycache
# Without compiled files, the start of each worker takes 9 s of processor time instead of 2 s. Images of Python often set this.
unset PYTHONDONTWRITEBYTECODE
black_box=(.build/venv/bin/python -m pytest -ra -n 6 --dist loadfile --no-loadscope-reorder)

# Warnings are errors only in our targets: SwiftPM does not pass the flag to packages. The build is faster without debug
# information; a crash report then has the names of functions, but no line numbers.
must "debug build" 30 swift build --build-tests "${flags[@]}"
wait "$set_up" || failed_parts+=("set-up")
wait "$formatting" || failed_parts+=("formatting")
cat "$results"/{set-up,formatting}.log
export HESPER_BINARY=$PWD/.build/debug/hesper
if [ "$mode" = check ]; then
    # At the same time as the others, because each leaves part of two cores idle. The Swift tests take longest, so they come first.
    behind swift 5 "${swift_test[@]}" "$results/swift.xml" --filter '^Hesper(Model|Store|SQLite)Tests\.|^HouseTests\.'
    swift_run=$!
    behind black-box 5 nice -n 5 "${black_box[@]}" Tests/BlackBox/api -m "not long" --junitxml="$results/black-box.xml"
    black_box_run=$!
    web_code
    wait "$swift_run"
    statuses+=("swift=$?")
    wait "$black_box_run"
    statuses+=("black-box=$?")
    cat "$results"/{swift,black-box}.log
    exec /usr/bin/python3 Tools/count-tests.py "$results" "${statuses[@]}" "${failed_parts[@]}"
fi
minutes=40
if [ "$mode" = all ]; then
    minutes=300 black_box+=(--everything)
    export HESPER_BINARY=$PWD/.build/release/hesper HESPER_KILLS=20 HESPER_EVERYTHING=1
    must "release build" 30 Tools/release.sh hesper
    must "release build of the trials" 5 Tools/release.sh merge-trials
    must "release build of the simulator" 20 Tools/release.sh simulate
    must "release build of the device" 5 Tools/release.sh client-device
fi
# Compiles the Python files once. Otherwise each worker does so at its start, which takes it 7 s of processor time.
behind collection 5 .build/venv/bin/python -m pytest -q --collect-only Tests/BlackBox
collection=$!
# Two processes at the same time, because tests that wait for files, processes and connections leave half of two cores idle.
databases='^Hesper(Postgres|SQLite|Blobs|Archive)Tests\.'
if [ "$mode" = test ]; then
    # With the lowest priority: it uses the processor time that the tests leave, because they wait for files and processes.
    behind simulate 30 nice -n 19 .build/debug/simulate 200
    simulation=$!
fi
behind swift-databases 20 "${swift_test[@]}" "$results/swift-databases.xml" --filter "$databases"
databases_run=$!
behind swift 20 "${swift_test[@]}" "$results/swift.xml" --skip "$databases"
swift_run=$!
web_code
wait "$swift_run"
statuses+=("swift=$?")
wait "$databases_run"
statuses+=("swift-databases=$?")
cat "$results"/{swift,swift-databases}.log
wait "$collection"
[ "$mode" = all ] && runner simulate 30 .build/release/simulate 10000
runner black-box $minutes "${black_box[@]}" Tests/BlackBox --junitxml="$results/black-box.xml"
# The tests that depend on the store run again on PostgreSQL.
runner postgresql $((minutes / 2)) "${black_box[@]}" Tests/BlackBox --store postgresql --junitxml="$results/postgresql.xml"
if [ -n "${simulation:-}" ]; then
    wait "$simulation"
    statuses+=("simulate=$?")
    cat "$results/simulate.log"
fi

exec /usr/bin/python3 Tools/count-tests.py "$results" "${statuses[@]}" "${failed_parts[@]}"
