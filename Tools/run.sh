#!/usr/bin/env bash
# Builds Hesper for use and serves it on http://127.0.0.1:$PORT with its data in ./data. `make run` calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
port="${PORT:-8080}"
data="${DATA:-data}"

# Who listens on the port, from /proc alone: a fresh Debian has neither ss nor lsof. Prints nothing when it is free.
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
    local who
    who=$(holder)
    if [ -n "$who" ]; then
        echo "make run: port $port is taken by $who." >&2
        echo "make run: stop it, or choose another port: make run PORT=$((port + 1))" >&2
        exit 1
    fi
}

# Asked before the build too: nobody should wait seven minutes for this answer.
check_port
Tools/set-up.sh run
[ -x .build/release/hesper ] || echo "make run: building; the first build takes about 7 minutes on 2 cores."
swift build -c release --product hesper
check_port

what_next() {
    local attempt
    for attempt in $(seq 100); do
        sleep 0.2
        kill -0 $$ 2>/dev/null || return
        if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            cat <<TEXT

Open http://127.0.0.1:$port in a browser: your notes. Their data is in $data. Ctrl-C stops it; nothing acknowledged is lost.
  http://127.0.0.1:$port/docs   what it can do, call by call
  README.md                     a session in curl, from sign-up to two devices that merge a conflict
  make help                     what else there is to run

TEXT
            return
        fi
    done
}
what_next &
exec .build/release/hesper serve --host 127.0.0.1 --port "$port" --data "$data"
