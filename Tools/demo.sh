#!/usr/bin/env bash
# Two devices, a few thousand real texts, edits on both while offline. `make demo` calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
Tools/set-up.sh demo
[ -x .build/release/hesper ] || echo "make demo: building; the first build takes about 7 minutes on 2 cores."
swift build -c release --product hesper
PYTHONPATH=Tests/BlackBox/support exec .build/venv/bin/python Tools/demo.py
