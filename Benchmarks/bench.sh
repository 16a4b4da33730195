#!/usr/bin/env bash
# Builds the benchmarks and runs them: `Benchmarks/bench.sh [ROW…]`. Called by `make bench`.
set -euo pipefail
cd "$(dirname "$0")/.."
Tools/set-up.sh bench
Tools/release.sh hesper
Tools/release.sh merge-trials
# A plain Hummingbird server for comparison. The first build takes about 5 minutes.
swift build -c release --static-swift-stdlib --package-path Benchmarks/hello --scratch-path .build-bench
swift build -c release --static-swift-stdlib --package-path Benchmarks/client --scratch-path .build-client

tools=.build/bench/tools
mkdir -p "$tools"
/usr/bin/python3 Benchmarks/statements.py >"$tools/statements.h"
cc -O2 -Wall -Wextra -o "$tools/load" Benchmarks/load.c Benchmarks/http.c Benchmarks/notes.c
cc -O2 -Wall -Wextra -o "$tools/listen" Benchmarks/listen.c Benchmarks/http.c Benchmarks/notes.c
cc -O2 -Wall -Wextra -I"$tools" -o "$tools/yardstick" Benchmarks/yardstick.c -lsqlite3
cc -O2 -Wall -Wextra -I"$tools" $(pkg-config --cflags libpq) -o "$tools/postgres" Benchmarks/postgres.c -lpq -pthread
cc -O2 -Wall -Wextra -o "$tools/fdatasync" Benchmarks/fdatasync.c
cc -O2 -Wall -Wextra -shared -fPIC -o "$tools/slow-fsync.so" Benchmarks/slow-fsync.c
PYTHONPATH=Tests/BlackBox/support:Tests/BlackBox/browser exec .build/venv/bin/python Benchmarks/bench.py "$@"
