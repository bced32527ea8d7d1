# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Bare Debian systems for tests, as root. A script sources this file.
#   CACHE   folder for the systems and the downloaded packages; default /var/cache/gr-hf-packages
#   MIRROR  mirror of Debian; default http://deb.debian.org/debian
# Needs debootstrap, git and overlayfs, and about 1 GB of disk for each suite.
cache=${CACHE:-/var/cache/gr-hf-packages}
mirror=${MIRROR:-http://deb.debian.org/debian}

say() { printf '%s %s: %s\n' "$(date +%H:%M:%S)" "$(basename "$0")" "$*" >&2; }

need_bare_systems() {
    [ "$(id -u)" = 0 ] || { say "needs root, to make a bare system"; exit 77; }
    for tool in debootstrap git unshare; do
        command -v $tool >/dev/null || { say "$tool is missing"; exit 77; }
    done
}

# make_bare SYSTEM: debootstrap's smallest system, unless the cache has it. SYSTEM is a suite, or
# a suite and an architecture: trixie/arm64.
make_bare() {
    local base=$cache/$1 suite=${1%/*} arch suites
    [ ! -e "$base/.complete" ] || return 0
    arch=$(dpkg --print-architecture)
    [ "$suite" = "$1" ] || arch=${1#*/}
    say "making a bare $1 from $mirror"
    rm -rf "$base"
    mkdir -p "$base"
    # An old debootstrap does not know a new suite; all of them are made like sid.
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || ln -s sid "/usr/share/debootstrap/scripts/$suite"
    debootstrap --arch="$arch" --variant=minbase --include=ca-certificates "$suite" "$base" "$mirror" \
        >"$cache/debootstrap.log" 2>&1 || { tail -n 5 "$cache/debootstrap.log" >&2; exit 1; }
    rm -rf "$base"/etc/apt/sources.list*
    suites="deb $mirror $suite main"
    [ "$suite" = sid ] || suites="$suites
deb $mirror $suite-updates main
deb ${mirror%/debian}/debian-security $suite-security main"
    printf '%s\n' "$suites" >"$base/etc/apt/sources.list"
    # Settings of this machine, such as a proxy.
    apt-config dump | grep ^Acquire:: >"$base/etc/apt/apt.conf.d/10host"
    # A throwaway system need not wait for the disk.
    echo force-unsafe-io >"$base/etc/dpkg/dpkg.cfg.d/unsafe-io"
    touch "$base/.complete"
}

# in_bare SYSTEM FOLDER COMMANDS: runs shell commands as root in a throwaway copy of the bare
# system. FOLDER is /out there. Runs of a system share downloaded packages.
in_bare() {
    local work archives=$cache/archives-${1%/*} status=0
    make_bare "$1"
    mkdir -p "$archives/partial" "$2"
    work=$(mktemp -d "$cache/run.XXXXXX")
    mkdir "$work/up" "$work/wk" "$work/root"
    # shellcheck disable=SC2016
    unshare -m -p -f --kill-child bash -euc '
        root=$1/root
        mount --make-rprivate /
        mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/up,workdir=$1/wk" "$root"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        mount -t tmpfs tmpfs "$root/run"
        mkdir -p "$root/etc/apt/sources.list.d" "$root/out" "$root/base"
        mount --bind "$3" "$root/out"
        mount --bind "$2" "$root/base"
        mount --bind "$4" "$root/var/cache/apt/archives"
        cp /etc/resolv.conf "$root/etc/resolv.conf"
        # As the installer of Debian writes it.
        echo "127.0.0.1 localhost" >"$root/etc/hosts"
        exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 TERM=dumb \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            bash -euo pipefail -c "$5"
    ' bash "$work" "$cache/$1" "$2" "$archives" "$3" </dev/null || status=$?
    rm -rf --one-file-system "$work"
    return $status
}
