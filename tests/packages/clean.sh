#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The packages of HEAD, built and tried in bare Debian 12 systems, as root:
#   tests/packages/clean.sh [build] [lintian] [autopkgtest] [piuparts]
# Without a word all four, in this order. build: what debian/control asks for and no more, then
# dpkg-buildpackage as an ordinary user, without network, with Debian's default flags. lintian:
# fails on errors and warnings. autopkgtest: debian/tests of the built packages, in a system that
# has nothing else. piuparts: install, upgrade from an earlier version, remove, purge.
# Every step starts from the same base, which is kept; results are in FOLDER.
#   FOLDER    where packages and records are put; default build-packages in the tree
#   CACHE     where the base and downloaded packages are kept; default /var/cache/gr-hf-packages
#   MIRROR    a mirror of Debian; default http://deb.debian.org/debian
#   JOBS      of the build; default 2
# Needs debootstrap, git, overlayfs and about 15 GB of disk.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "clean.sh: needs root, to make systems of their own" >&2; exit 77; }
for tool in debootstrap git unshare; do
    command -v $tool >/dev/null || { echo "clean.sh: $tool is missing" >&2; exit 77; }
done

tree=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(realpath -m "${FOLDER:-$tree/build-packages}")
cache=${CACHE:-/var/cache/gr-hf-packages}
mirror=${MIRROR:-http://deb.debian.org/debian}
jobs=${JOBS:-2}
base=$cache/bookworm
mkdir -p "$folder" "$cache/archives/partial"
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$tree/debian/changelog")

say() { printf '%s clean.sh: %s\n' "$(date +%H:%M:%S)" "$*" >&2; }

make_base() {
    [ ! -e "$base/.complete" ] || return 0
    say "making a bare system from $mirror"
    rm -rf "$base"
    debootstrap --variant=minbase bookworm "$base" "$mirror" >"$cache/debootstrap.log"
    printf 'deb %s %s main\n' "$mirror" bookworm "$mirror" bookworm-updates \
        "${mirror%/debian}/debian-security" bookworm-security >"$base/etc/apt/sources.list"
    # A system that is thrown away needs no waiting for the disk.
    echo force-unsafe-io >"$base/etc/dpkg/dpkg.cfg.d/unsafe-io"
    touch "$base/.complete"
}

# Runs the shell commands $2 as root in a bare system of its own, with FOLDER as /out; what they say
# goes to FOLDER/$1.log.
in_bare_system() {
    local work status=0
    say "$1"
    work=$(mktemp -d "$cache/run.XXXXXX")
    mkdir "$work/up" "$work/wk" "$work/root"
    # shellcheck disable=SC2064
    trap "rm -rf --one-file-system '$work'" EXIT
    # shellcheck disable=SC2016
    unshare -m -p -f --kill-child bash -euc '
        root=$1/root
        mount --make-rprivate /
        mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/up,workdir=$1/wk" "$root"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        mount -t tmpfs tmpfs "$root/run"
        mkdir -p "$root/out" "$root/base"
        mount --bind "$3" "$root/out"
        mount --bind "$2" "$root/base"
        mount --bind "$4" "$root/var/cache/apt/archives"
        cp /etc/resolv.conf "$root/etc/resolv.conf"
        exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euo pipefail -c "$5"
    ' bash "$work" "$base" "$folder" "$cache/archives" "apt-get -q update; $2" \
        >"$folder/$1.log" 2>&1 </dev/null || status=$?
    rm -rf --one-file-system "$work"
    if [ $status != 0 ]; then
        tail -n 30 "$folder/$1.log" >&2
        say "$1 failed, see $folder/$1.log"
        exit 1
    fi
}

build() {
    rm -f "$folder"/*.deb "$folder"/gr-hf_*
    git -C "$tree" archive --prefix="gr-hf-$version/" -o "$folder/gr-hf_source.tar" HEAD
    in_bare_system build "
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
    in_bare_system lintian "
        apt-get -qy --no-install-recommends install lintian
        useradd -m builder
        cd /out
        runuser -u builder -- lintian --fail-on error,warning --display-info --tag-display-limit 0 \
            gr-hf_*.changes
    "
    sed -n '/^[EWIPON]: /p' "$folder/lintian.log" >&2
}

autopkgtest() {
    in_bare_system autopkgtest "
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
    in_bare_system piuparts "
        version=$version
        apt-get -qy --no-install-recommends install piuparts dpkg-dev
        cd /tmp
        $earlier
        cd /out
        # debootstrap of piuparts itself would ask for more than the base that is there. What is
        # ignored is left behind by systemd and the client of ssh, which others ask for.
        piuparts --existing-chroot=/base --distribution=bookworm --mirror='$mirror main' \
            --bindmount=/earlier --extra-repo='deb [trusted=yes] file:/earlier ./' \
            --ignore-regex='^/root/.ssh' --ignore-regex='^/var/(cache|lib|log)/private' \
            --ignore-regex='^/var/lib/systemd/(coredump|pstore)' \
            gr-hf_*.changes
    "
    grep -E 'PASS|FAIL' "$folder/piuparts.log" >&2
}

make_base
[ $# -gt 0 ] || set -- build lintian autopkgtest piuparts
for step in "$@"; do
    case $step in
    build | lintian | autopkgtest | piuparts) $step ;;
    *) echo "clean.sh: no step $step" >&2; exit 2 ;;
    esac
done
say "done"
