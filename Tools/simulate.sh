#!/usr/bin/env bash
# Runs simulated lives of devices, and prints those that fail. Called by `make simulate`, with SEEDS (their number) and FIRST (the first
# seed), or with SEED for one life, with everything that happens in it.
set -euo pipefail
cd "$(dirname "$0")/.."
Tools/set-up.sh run
Tools/release.sh simulate
if [ -n "${SEED:-}" ]; then
    exec .build/release/simulate --seed "$SEED"
fi
exec .build/release/simulate "${SEEDS:-1000}" "${FIRST:-1}"
