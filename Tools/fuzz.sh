#!/usr/bin/env bash
# Requests of the contract, each with something wrong, at a server of its own. `make fuzz` calls this; REQUESTS and SEED choose.
set -euo pipefail
cd "$(dirname "$0")/.."
Tools/set-up.sh test
swift build -c release --product hesper
PYTHONPATH=Tests/BlackBox/support exec .build/venv/bin/python Tests/BlackBox/attacks/fuzz.py --requests "${REQUESTS:-100000}" ${SEED:+--seed "$SEED"}
