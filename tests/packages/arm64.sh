#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gr-hf for arm64 on another machine, as root:
#   tests/packages/arm64.sh [engines] [packages]
# engines: builds the engines and their tests, and runs every test. packages: builds the four
# packages and sends a file between two stations with them (hf demo). Both run in a bare arm64
# system under qemu-user, with a cross-compiler that runs natively. The last line of the output is
# the result.
#   SUITE   of Debian; default trixie (13)
#   FOLDER  for packages and logs; default build-packages/SUITE/arm64 in the tree
#   JOBS    default 2
# Needs qemu-user-static and binfmt-support besides what bare.sh needs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bare.sh
. "$here/bare.sh"
need_bare_systems
[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || true
[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || { say "qemu-user-static or binfmt-support is missing"; exit 77; }

tree=$(cd "$here/../.." && pwd)
suite=${SUITE:-trixie}
folder=$(realpath -m "${FOLDER:-$tree/build-packages/$suite/arm64}")
jobs=${JOBS:-2}
mkdir -p "$folder"

# The compiler of the machine's own architecture, under the names of the native one: Debian's
# packages of it satisfy g++ of any architecture.
compiler="
    export DEBIAN_FRONTEND=noninteractive
    dpkg --add-architecture $(dpkg --print-architecture)
    apt-get -q update
    apt-get -qy --no-install-recommends install build-essential fakeroot ccache- \\
        g++-aarch64-linux-gnu:$(dpkg --print-architecture)
    mkdir /home/gr-hf && tar -C /home/gr-hf -xf /out/tree.tar && cd /home/gr-hf
    aarch64-linux-gnu-g++ --version | head -n 1
"

engines() {
    say "$suite: engine tests for arm64"
    in_bare "$suite/arm64" "$folder" "$compiler
        apt-get -qy --no-install-recommends install cmake ninja-build pkg-config libgtest-dev libvolk-dev \\
            libfftw3-dev libliquid-dev libboost-dev libssl-dev zlib1g-dev libasound2t64
        cmake -G Ninja -B build -DHF_ENGINES_ONLY=ON -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
        ninja -C build -j$jobs
        ctest --test-dir build -j$jobs --output-on-failure --timeout 3000"
}

packages() {
    say "$suite: packages for arm64"
    in_bare "$suite/arm64" "$folder" "$compiler
        apt-get -qy --no-install-recommends build-dep --arch-only .
        CXX=aarch64-linux-gnu-g++ DEB_BUILD_OPTIONS=parallel=$jobs dpkg-buildpackage -us -uc -B
        cp ../*.deb /out
        apt-get -qy --no-install-recommends install stterm ../libgnuradio-hf0*.deb ../gr-hf_*.deb ../gr-hf-lab_*.deb
        hf demo --size 2000"
}

git -C "$tree" archive -o "$folder/tree.tar" HEAD
[ $# -gt 0 ] || set -- engines packages
for step in "$@"; do
    $step
done
