#!/usr/bin/env bash
# Builds products in release mode: `Tools/release.sh hesper`. They contain the Swift runtime. If it were a shared library, the
# indirect calls to it would take a quarter of the processor time of a poll (Benchmarks/FINDINGS.md). All scripts build with these
# flags, because SwiftPM compiles everything again when the flags change.
set -euo pipefail
cd "$(dirname "$0")/.."
for product; do swift build -c release --static-swift-stdlib --product "$product"; done
