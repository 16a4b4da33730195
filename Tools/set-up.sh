#!/usr/bin/env bash
# Installs the packages for a task: `Tools/set-up.sh run|test|deb|bench|demo|screenshots`. Prints what it installs. If nothing is
# missing, it needs no root and no network, and takes less than a second.
set -euo pipefail
cd "$(dirname "$0")/.."

# SQLite, libarchive, libxml2, libpq and its OpenSSL are linked from Debian. The C and C++ headers are needed by the Swift toolchain and
# BoringSSL. Foundation reads time zones from tzdata.
build=(libsqlite3-dev libarchive-dev libxml2-dev libcurl4-openssl-dev libpq-dev libssl-dev zlib1g-dev libc6-dev libstdc++-12-dev tzdata)
python=(python3 python3-venv)
# The fonts cover all scripts in the tests and screenshots of the web app.
browser=(chromium-headless-shell fonts-noto-core fonts-noto-color-emoji)
deb=(binutils dpkg-dev)
venv=.build/venv

case "${1:-}" in
run)
    packages=("${build[@]}") requirements=() ;;
test)
    # curl, jq, unzip and uuidgen run the sessions in the README and in docs/automate.md. (openapi-generator comes with its own Java,
    # from PyPI.)
    # Node.js runs the tests of the web app's model, TypeScript checks its types, and Go compiles the client generated for it.
    # PostgreSQL and nginx are started by the tests, with certificates created by openssl.
    # The images of desktop-base and adwaita-icon-theme are used as attachments. The web app is tested in Debian's Chromium, and its
    # editor also in Firefox.
    # The Debian package is built and installed, and its unit is checked with systemd's tool.
    packages=("${build[@]}" "${python[@]}" curl jq unzip uuid-runtime desktop-base adwaita-icon-theme "${browser[@]}" firefox-esr
        nodejs node-typescript golang-go postgresql openssl nginx-light "${deb[@]}" adduser init-system-helpers systemd util-linux)
    requirements=(Tests/BlackBox/requirements.txt Tests/BlackBox/contract/requirements.txt) ;;
deb)
    packages=("${build[@]}" "${deb[@]}") requirements=() ;;
bench)
    packages=("${build[@]}" "${python[@]}" gcc git pkg-config wrk nginx-light linux-perf postgresql openssl "${browser[@]}")
    requirements=(Tests/BlackBox/requirements.txt Benchmarks/requirements.txt) ;;
demo)
    packages=("${build[@]}" "${python[@]}" fortunes fortunes-min fortunes-bg fortunes-br fortunes-cs fortunes-de
        fortunes-eo fortunes-es fortunes-ga fortunes-it fortunes-pl fortunes-ru fortunes-zh)
    requirements=(Tests/BlackBox/requirements.txt) ;;
screenshots)
    packages=("${build[@]}" "${python[@]}" "${browser[@]}" pngquant)
    requirements=(Tests/BlackBox/requirements.txt) ;;
*)
    echo "usage: Tools/set-up.sh run|test|deb|bench|demo|screenshots" >&2
    exit 2 ;;
esac

say() { echo "set-up: $*"; }

if ! command -v swift >/dev/null; then
    say "no Swift toolchain found in PATH. Install Swift 6.2 or later from https://swift.org/install" >&2
    exit 1
fi

install_packages() {
    local missing=() package
    for package in "${packages[@]}"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    if ! command -v apt-get >/dev/null; then
        say "cannot install missing packages without apt-get: ${missing[*]}" >&2
        exit 1
    fi
    local root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            say "packages are missing. Run as root: apt-get install ${missing[*]}" >&2
            exit 1
        fi
        root=(sudo)
    fi
    say "installing with apt-get: ${missing[*]}"
    local quiet=
    case " ${missing[*]} " in *" postgresql "*)
        # Debian's package would create a cluster and start it as a service. The tests create their own.
        quiet=/etc/postgresql-common/createcluster.d/hesper-set-up.conf
        "${root[@]}" mkdir -p "${quiet%/*}"
        echo 'create_main_cluster = false' | "${root[@]}" tee "$quiet" >/dev/null ;;
    esac
    # The installation fails if a mirror changes during it. Updating the package lists and retrying helps.
    local attempt
    for attempt in 1 2; do
        if "${root[@]}" apt-get update -qq &&
            "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
                >/dev/null </dev/null; then
            [ -z "$quiet" ] || "${root[@]}" rm -f "$quiet"
            return
        fi
        say "apt-get failed (attempt $attempt of 2)" >&2
    done
    [ -z "$quiet" ] || "${root[@]}" rm -f "$quiet"
    exit 1
}

install_requirements() {
    local files=() file stamp
    for file in "${requirements[@]}"; do
        [ -f "$file" ] && files+=("$file")
    done
    [ ${#files[@]} -eq 0 ] && return
    if [ ! -x "$venv/bin/python" ]; then
        say "creating a Python environment in $venv"
        mkdir -p .build
        # Debian's interpreter, because another one in PATH may lack venv or be removed.
        /usr/bin/python3 -m venv "$venv"
    fi
    for file in "${files[@]}"; do
        stamp="$venv/.installed-$(sha256sum "$file" | cut -c1-16)"
        [ -f "$stamp" ] && continue
        say "installing with pip into $venv: $(grep -v '^ *#' "$file" | grep . | tr '\n' ' ')"
        "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$file" ||
            "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$file"
        touch "$stamp"
    done
}

install_packages
install_requirements
