#!/usr/bin/env bash
# Runs the Swift tests and some black-box tests with sanitizers, which report memory errors, undefined behaviour in C and data
# races, also in tests that pass. Called by `make sanitize`. Not part of `make test`. ONLY=address or ONLY=thread selects one
# kind. FILTER is passed to `swift test --filter`, and skips the black-box tests. Each kind ends with a summary of passed tests,
# reports and suppressions. The exit status is 0 if all tests passed without reports.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
child=
trap '[ -n "$child" ] && kill "$child" 2>/dev/null; exit 130' INT TERM

# Tests that pass untrusted bytes to C and unsafe code, and tests with many concurrent requests.
black_box=(api/test_bad_input.py api/test_compression.py api/test_events_converge.py api/test_export.py
    api/test_http2_attacks.py api/test_search.py api/test_sync.py api/test_tls.py api/test_uploads.py
    command/test_archives.py)

# part MINUTES COMMAND…: runs the command with a timeout and prints its duration.
part() {
    local minutes=$1 begin=$SECONDS result
    shift
    echo "==> $*"
    timeout --kill-after=30 "${minutes}m" "$@" &
    child=$!
    wait "$child"
    result=$?
    child=
    [ $result -eq 124 ] && echo "==> stopped after $minutes minutes"
    echo "==> exit $result after $((SECONDS - begin)) s"
    return $result
}

# watch FOLDER: lets all following processes write their reports to the folder, and continue after an error if possible. The
# quarantine of freed memory is limited to 16 MiB, because tests check the memory use of processes. Libraries without
# instrumentation are ignored, because their synchronisation is not visible (Swift's runtime, libdispatch, SQLite).
watch() {
    mkdir -p "$1"
    export ASAN_OPTIONS="log_path=$1/report:quarantine_size_mb=16:detect_leaks=1:suppressions=$PWD/Tools/sanitize/memory.txt"
    export LSAN_OPTIONS="suppressions=$PWD/Tools/sanitize/leaks.txt"
    export UBSAN_OPTIONS="print_stacktrace=1"
    export HESPER_TEST_MEMORY=4
    export TSAN_OPTIONS="log_path=$1/report:suppressions=$PWD/Tools/sanitize/threads.txt:print_suppressions=1:ignore_noninstrumented_modules=1"
}

# reports FOLDER: prints the number of reports.
reports() {
    cat "$1"/report* 2>/dev/null |
        grep -cE 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error:'
}

# suppressed FOLDER: prints the suppressions and how often they matched.
suppressed() {
    cat "$1"/report* 2>/dev/null | awk '
        /^Suppressions used:/ { part = "leaks"; next }
        /^ThreadSanitizer: Matched/ { part = "races"; next }
        !/^ *[0-9]+ / { if (!/^ *count /) part = ""; next }
        part == "leaks" { count["leak:" $3] += $1 }
        part == "races" { count[$2] += $1 }
        END {
            for (name in count) printf "%s%d × %s", number++ ? ", " : "", count[name], name
            if (!number) printf "nothing"
        }'
}

# outcome FILE: prints the totals in a JUnit file. A missing file counts as a failure.
outcome() {
    local suite name
    local -A count=()
    suite=$(grep -m 1 -o '<testsuite [^>]*' "$1" 2>/dev/null)
    for name in tests failures errors skipped; do
        [[ $suite =~ \ $name=\"([0-9]+)\" ]] && count[$name]=${BASH_REMATCH[1]}
    done
    if [ -z "${count[tests]:-}" ]; then echo "0 passed, 1 failed (the run itself)"; return; fi
    local failed=$((${count[failures]:-0} + ${count[errors]:-0}))
    echo "$((count[tests] - failed - ${count[skipped]:-0})) passed, $failed failed"
}

# proves FAULT…: verifies that each fault is reported, and that a program without a fault is not. Otherwise the absence of reports
# would mean nothing.
proves() {
    local fault expected found
    part 10 swift build --package-path Tools/sanitize/faults --scratch-path "$scratch/faults" "${flags[@]}" || return 1
    for fault in none "$@"; do
        watch "$PWD/$scratch/proof/$fault"
        "$scratch/faults/debug/faults" "$fault" >/dev/null
        [ "$fault" = none ] && expected=0 || expected=1
        found=$(reports "$scratch/proof/$fault")
        [ "$((found > 0))" -eq $expected ] || { echo "sanitize: $found reports of the fault “$fault”"; return 1; }
    done
}

# sanitize NAMES FAULT…: builds with $flags in $scratch, runs the tests, and prints a summary.
sanitize() {
    local names=$1 parts=() found
    shift
    rm -rf "$scratch"/{proof,reports,*.xml}
    if ! proves "$@" || ! part 60 swift build --build-tests --scratch-path "$scratch" "${flags[@]}"; then
        echo "sanitize: $names: not run"
        status=1
        return
    fi
    watch "$PWD/$scratch/reports"
    # One test at a time: sanitized tests are many times slower, so concurrent tests would run into timeouts.
    part 90 swift test --skip-build --no-parallel --scratch-path "$scratch" "${flags[@]}" ${FILTER:+--filter "$FILTER"} \
        --xunit-output "$scratch/swift.xml" || status=1
    parts+=("Swift tests $(outcome "$scratch/swift-swift-testing.xml")")
    if [ -z "${FILTER:-}" ]; then
        HESPER_BINARY=$PWD/$scratch/debug/hesper part 60 .build/venv/bin/python -m pytest "${black_box[@]/#/Tests/BlackBox/}" \
            -q --junitxml="$scratch/pytest.xml" || status=1
        parts+=("black box $(outcome "$scratch/pytest.xml")")
    fi
    found=$(reports "$scratch/reports")
    if [ "$found" -gt 0 ]; then
        status=1
        cat "$scratch"/reports/report* | swift demangle --simplified
    fi
    printf 'sanitize: %s: ' "$names"
    printf '%s; ' "${parts[@]}"
    echo "$found reports; suppressed: $(suppressed "$scratch/reports") (see Tools/sanitize)"
}

Tools/set-up.sh test || exit 1
if [ "${ONLY:-address}" = address ]; then
    # Our C code and that of packages is compiled with UndefinedBehaviorSanitizer too. Swift checks its own arithmetic.
    scratch=.build/asan flags=(--sanitize address -Xcc -fsanitize=undefined)
    sanitize "AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer" freed leak overflow
fi
if [ "${ONLY:-thread}" = thread ]; then
    scratch=.build/tsan flags=(--sanitize thread)
    sanitize "ThreadSanitizer" race
fi
exit $status
