#!/usr/bin/env bash
# Builds a Debian package: `make deb`. It depends on Debian's packages for all libraries, and contains those that Debian does not
# have. Result: .build/hesper_VERSION_ARCHITECTURE.deb, for this version of Debian.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" != --no-build ]; then
    Tools/set-up.sh deb
    Tools/release.sh hesper
fi
binary=.build/release/hesper
version=$("$binary" --version | awk '{ print $2 }')
# Tests set a higher version to test an upgrade.
version=${HESPER_DEB_VERSION:-$version}
architecture=$(dpkg --print-architecture)
package=.build/hesper_${version}_$architecture.deb
root=$(mktemp -d .build/deb.XXXXXX)
trap 'rm -rf "$root"' EXIT

# The binary searches libraries in its own folder ($ORIGIN), and its files in ../share/hesper.
home=$root/usr/lib/hesper/bin
install -D -m 755 "$binary" "$home/hesper"
strip --strip-unneeded "$home/hesper"
depends=()
while read -r library; do
    if owner=$(dpkg-query -S "$(realpath "$library")" 2>/dev/null || dpkg-query -S "$library" 2>/dev/null); then
        owner=${owner%%:*}
        depends+=("$owner (>= $(dpkg-query -W -f='${Version}' "$owner" | sed 's/-[^-]*$//'))")
    else
        install -m 644 "$library" "$home/"
    fi
done < <(ldd "$binary" | awk '$3 ~ /^\// { print $3 }' | sort)
mkdir -p "$root/usr/bin" "$root/usr/share/hesper" "$root/usr/lib/hesper/share"
ln -s ../lib/hesper/bin/hesper "$root/usr/bin/hesper"
ln -s ../../../share/hesper "$root/usr/lib/hesper/share/hesper"
cp -r Public openapi.yaml "$root/usr/share/hesper/"
install -D -m 644 Packaging/hesper.service "$root/lib/systemd/system/hesper.service"
install -D -m 644 Packaging/hesper-sync@.service "$root/usr/lib/systemd/user/hesper-sync@.service"
install -D -m 600 Packaging/debian/default "$root/etc/default/hesper"
install -D -m 644 Packaging/fail2ban.conf "$root/etc/fail2ban/filter.d/hesper.conf"
install -d "$root/usr/share/doc/hesper"
install -m 644 LICENSE "$root/usr/share/doc/hesper/copyright"
install -m 644 CHANGELOG.md docs/*.md "$root/usr/share/doc/hesper/"
find "$root" -type d -exec chmod 755 {} +
find "$root/usr/share" -type f -exec chmod 644 {} +

install -d "$root/DEBIAN"
install -m 755 Packaging/debian/postinst Packaging/debian/prerm Packaging/debian/postrm "$root/DEBIAN/"
printf '%s\n' /etc/default/hesper /etc/fail2ban/filter.d/hesper.conf >"$root/DEBIAN/conffiles"
dependencies=$(printf '%s\n' "${depends[@]}" | sort -u | paste -sd, | sed 's/,/, /g')
cat >"$root/DEBIAN/control" <<CONTROL
Package: hesper
Version: $version
Architecture: $architecture
Section: net
Priority: optional
Maintainer: Hesper <hesper@localhost>
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Depends: $dependencies, adduser, init-system-helpers, tzdata
Description: self-hosted sync for notes
 Keeps notes, tags and attachments the same on every device. Includes a web app
 that works offline, an API with plain HTTP and JSON, and stores everything in one
 SQLite file (or PostgreSQL) on your own machine.
CONTROL
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
chmod 644 "$root"/DEBIAN/{control,conffiles,md5sums}
dpkg-deb --root-owner-group -Zzstd --build "$root" "$package" >/dev/null
echo "$package"
