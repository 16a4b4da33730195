#!/usr/bin/env bash
# Sends invalid variants of the contract's requests to a new server. Called by `make fuzz`, with REQUESTS and SEED.
set -euo pipefail
cd "$(dirname "$0")/.."
Tools/set-up.sh test
Tools/release.sh hesper
PYTHONPATH=Tests/BlackBox/support exec .build/venv/bin/python Tests/BlackBox/attacks/fuzz.py --requests "${REQUESTS:-100000}" ${SEED:+--seed "$SEED"}
