#!/usr/bin/env bash
# Builds the release binary and serves on http://127.0.0.1:$PORT with data in ./data. Called by `make run`.
set -euo pipefail
cd "$(dirname "$0")/.."
port="${PORT:-8080}"
data="${DATA:-data}"

# Prints the process that listens on the port, or nothing if the port is free. Uses /proc, because a fresh Debian has neither ss
# nor lsof.
holder() {
    local inode link pid
    inode=$(awk -v port="$(printf ':%04X' "$port")" \
        '$4 == "0A" && substr($2, length($2) - 4) == port { print $10; exit }' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
    [ -z "$inode" ] && return
    for link in /proc/[0-9]*/fd/*; do
        if [ "$(readlink "$link" 2>/dev/null)" = "socket:[$inode]" ]; then
            pid=${link#/proc/}
            pid=${pid%%/*}
            echo "process $pid ($(tr '\0' ' ' <"/proc/$pid/cmdline" | sed 's/ $//'))"
            return
        fi
    done
    echo "a process of another user"
}

check_port() {
    local process
    process=$(holder)
    if [ -n "$process" ]; then
        echo "make run: port $port is in use by $process." >&2
        echo "make run: Stop it, or choose another port: make run PORT=$((port + 1))" >&2
        exit 1
    fi
}

# Also checked before the build, which takes minutes.
check_port
Tools/set-up.sh run
[ -x .build/release/hesper ] || echo "make run: building; the first build takes about 7 minutes on 2 cores."
Tools/release.sh hesper
check_port

print_help_when_ready() {
    local attempt
    for attempt in $(seq 100); do
        sleep 0.2
        kill -0 $$ 2>/dev/null || return
        if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            cat <<TEXT

Open http://127.0.0.1:$port in a browser. The data is in $data. Press Ctrl-C to stop the server.
  http://127.0.0.1:$port/docs   the API documentation
  README.md                     a session with curl, from sign-up to two devices that merge a conflict
  make help                     other commands

TEXT
            return
        fi
    done
}
print_help_when_ready &
exec .build/release/hesper serve --host 127.0.0.1 --port "$port" --data "$data"
