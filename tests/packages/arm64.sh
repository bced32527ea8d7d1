#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The engines for arm64 on an amd64 machine, as root:
#   tests/packages/arm64.sh
# A bare amd64 system builds them and their tests with Debian's cross-compiler; qemu-user runs
# every test there. A repeated run leaves out what has passed at this commit. The last line of the
# output is the result. Debian 13 cannot cross-build the packages: gnuradio-dev and several Python
# packages cannot be installed for two architectures at once.
#   SUITE   of Debian; default trixie (13)
#   FOLDER  for logs; default build-packages/SUITE/arm64 in the tree
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
commit=$(git -C "$tree" rev-parse --short=10 HEAD)
logs=$folder/$commit
mkdir -p "$logs"
git -C "$tree" archive -o "$folder/tree.tar" HEAD

# One quarter of a test program. $1: program, $2: number of the quarter.
# shellcheck disable=SC2016
quarter='
    log=/out/'$commit'/$(basename "$1")-$2
    [ -e "$log.passed" ] && exit 0
    GTEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=$2 timeout 7200 "$1" >"$log.log" 2>&1 &&
        mv "$log.log" "$log.passed" || { echo "failed: $log.log"; exit 1; }
'

say "$suite: engine tests for arm64"
in_bare "$suite" "$folder" "
    export DEBIAN_FRONTEND=noninteractive
    dpkg --add-architecture arm64
    apt-get -q update
    apt-get -qy --no-install-recommends install crossbuild-essential-arm64 cmake ninja-build pkgconf \\
        {libgtest,libvolk,libfftw3,libliquid,libboost,libssl,zlib1g,libasound2}-dev:arm64 libgtest-dev
    mkdir /root/gr-hf && tar -C /root/gr-hf -xf /out/tree.tar && cd /root/gr-hf
    export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig
    cmake -G Ninja -B build -DHF_ENGINES_ONLY=ON -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \\
        -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
    ninja -C build -j${JOBS:-2}
    find build/tests -type f -name 'test_*' -executable | sort >programs
    for i in 0 1 2 3; do sed \"s/\$/ \$i/\" programs; done |
        xargs -P${JOBS:-2} -n2 bash -c '$quarter' bash"
tests=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\?\.$/\1/p' "$logs"/*.passed | paste -sd+ | bc)
echo "$(uname -m | sed s/x86_64/amd64/) machine, cross-compiled, qemu-user: $tests tests passed"
