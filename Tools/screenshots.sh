#!/usr/bin/env bash
# Takes screenshots of the web app for the README, into docs/screenshots. Called by `make screenshots`.
set -euo pipefail
cd "$(dirname "$0")/.."
Tools/set-up.sh screenshots
[ -x .build/release/hesper ] || echo "make screenshots: building; the first build takes about 7 minutes on 2 cores."
Tools/release.sh hesper
PYTHONPATH=Tests/BlackBox/support:Tests/BlackBox/browser exec .build/venv/bin/python Tools/screenshots.py "$@"
