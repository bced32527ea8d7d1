#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The packages of HEAD, built and tried in bare Debian systems, as root:
#   tests/packages/clean.sh [build] [lintian] [autopkgtest] [piuparts]
# Without a word all four, in this order. build: installs the Build-Depends and nothing else, then
# runs dpkg-buildpackage as an ordinary user, without network, with Debian's default flags. lintian:
# fails on errors and warnings. autopkgtest: debian/tests of the built packages, in a system without
# anything else. piuparts: install, upgrade from an earlier version, remove, purge.
# Every step starts from the same bare system; results are in FOLDER.
#   SUITE     of Debian; default trixie (13)
#   FOLDER    for packages and records; default build-packages/SUITE in the tree
#   JOBS      of the build; default 2
# CACHE, MIRROR and what the systems need: bare.sh. About 15 GB of disk.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bare.sh
. "$here/bare.sh"
need_bare_systems

tree=$(cd "$here/../.." && pwd)
suite=${SUITE:-trixie}
folder=$(realpath -m "${FOLDER:-$tree/build-packages/$suite}")
jobs=${JOBS:-2}
mkdir -p "$folder"
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$tree/debian/changelog")

# step NAME COMMANDS: in a bare system; the output goes to FOLDER/NAME.log.
step() {
    say "$suite: $1"
    in_bare "$suite" "$folder" "export DEBIAN_FRONTEND=noninteractive; apt-get -q update; $2" \
        >"$folder/$1.log" 2>&1 || {
        tail -n 30 "$folder/$1.log" >&2
        say "$suite: $1 failed, see $folder/$1.log"
        exit 1
    }
}

build() {
    rm -f "$folder"/*.deb "$folder"/gr-hf_*
    git -C "$tree" archive --prefix="gr-hf-$version/" -o "$folder/gr-hf_source.tar" HEAD
    step build "
        apt-get -qy --no-install-recommends install build-essential fakeroot
        useradd -m builder
        cd /home/builder
        tar -xf /out/gr-hf_source.tar
        chown -R builder: .
        apt-get -qy --no-install-recommends build-dep ./gr-hf-$version
        cd gr-hf-$version
        env | sort
        time unshare -n runuser -u builder -- env -u DEBIAN_FRONTEND HOME=/home/builder \
            DEB_BUILD_OPTIONS=parallel=$jobs nice -n 5 dpkg-buildpackage -us -uc
        cp ../*.deb ../*.dsc ../*.tar.xz ../*.changes ../*.buildinfo /out
        # A second build must begin where the first began.
        runuser -u builder -- debian/rules clean
        cd ..
        mkdir once
        tar -C once -xf /out/gr-hf_source.tar
        diff -r once/gr-hf-$version gr-hf-$version
    "
    rm "$folder/gr-hf_source.tar"
    grep -h '^real' "$folder/build.log" >&2
    ls -l "$folder"/*.deb >&2
}

lintian() {
    step lintian "
        apt-get -qy --no-install-recommends install lintian
        useradd -m builder
        cd /out
        runuser -u builder -- lintian --fail-on error,warning --display-info --tag-display-limit 0 \
            gr-hf_*.changes
    "
    sed -n '/^[EWIPON]: /p' "$folder/lintian.log" >&2
}

autopkgtest() {
    step autopkgtest "
        apt-get -qy --no-install-recommends install autopkgtest
        rm -rf /out/autopkgtest
        autopkgtest -o /out/autopkgtest /out/gr-hf_$version.dsc /out/*.deb -- null
    "
    cat "$folder/autopkgtest/summary" >&2
}

# The packages again with an earlier version number, in an archive of their own: what an upgrade
# comes from.
earlier='
    mkdir /earlier
    for deb in /out/*.deb; do
        dpkg-deb -R "$deb" x
        sed -i "s/\(^Version: \|(= \)$version/&~earlier/" x/DEBIAN/control
        dpkg-deb -Znone -b x "/earlier/$(basename "$deb" | sed "s/_$version/&~earlier/")"
        rm -r x
    done
    cd /earlier
    dpkg-scanpackages . >Packages
'

piuparts() {
    step piuparts "
        version=$version
        apt-get -qy --no-install-recommends install piuparts dpkg-dev
        cd /tmp
        $earlier
        cd /out
        # debootstrap of piuparts itself would ask for more than the base that is there. What is
        # ignored is left behind by systemd and the client of ssh, which others ask for.
        piuparts --existing-chroot=/base --distribution=$suite --mirror='$mirror main' \
            --bindmount=/earlier --extra-repo='deb [trusted=yes] file:/earlier ./' \
            --ignore-regex='^/root/.ssh' --ignore-regex='^/var/(cache|lib|log)/private' \
            --ignore-regex='^/var/lib/systemd/(coredump|pstore)' \
            gr-hf_*.changes
    "
    grep -E 'PASS|FAIL' "$folder/piuparts.log" >&2
}

[ $# -gt 0 ] || set -- build lintian autopkgtest piuparts
for name in "$@"; do
    case $name in
    build | lintian | autopkgtest | piuparts) $name ;;
    *) echo "clean.sh: no step $name" >&2; exit 2 ;;
    esac
done
say "done"
