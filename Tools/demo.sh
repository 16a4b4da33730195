#!/usr/bin/env bash
# Imports a few thousand texts and edits them on two devices while offline. Called by `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
Tools/set-up.sh demo
[ -x .build/release/hesper ] || echo "make demo: building; the first build takes about 7 minutes on 2 cores."
Tools/release.sh hesper
PYTHONPATH=Tests/BlackBox/support exec .build/venv/bin/python Tools/demo.py
