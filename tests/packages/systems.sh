#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What works on which system: runs steps in bare Debian systems, as root, and prints a table.
#   tests/packages/systems.sh [SUITE[:STEP]...]
#   demo       ./hf demo in a fresh clone of HEAD, and the spellings of addresses that the web door refuses
#   test       ./hf test --all there
#   packages   clean.sh: build, lintian, autopkgtest
#   compilers  GCC 13, GCC 14 and the newest Clang of the suite build everything with -Werror
#   arm64      engines cross-built, every engine test under qemu-user
# A SUITE alone runs all steps that we support there; without arguments, every suite. The table
# has all records of FOLDER, the latest of each step. Copy the table to docs/systems.md.
#   FOLDER           for logs and records; default build-packages in the tree
#   HF_CMAKE_FLAGS   for the builds of demo and test: CI makes warnings errors
# CACHE, MIRROR and what the systems need: bare.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bare.sh
. "$here/bare.sh"
need_bare_systems

tree=$(cd "$here/../.." && pwd)
folder=$(realpath -m "${FOLDER:-$tree/build-packages}")
commit=$(git -C "$tree" rev-parse --short=10 HEAD)
declare -A steps=([trixie]="demo test packages compilers arm64" [bookworm]="demo test packages" [sid]="demo")

# In a system with a clone of HEAD in /root/gr-hf. $1: suite, $2: log, $3: commands.
in_clone() {
    local out=$folder/$1
    rm -rf "$out/clone"
    git clone -q --no-hardlinks "$tree" "$out/clone"
    in_bare "$1" "$out" "export HF_CMAKE_FLAGS='${HF_CMAKE_FLAGS:-}'
        cp -a /out/clone /root/gr-hf; cd /root/gr-hf; $3" >"$2" 2>&1
}

# Each step returns 0 if it passed, and prints the figure for the table.
demo() {
    in_clone "$1" "$2" "./hf demo; test -s hf-demo.png
        # How addresses are spelled is a matter of the system's library.
        DEBIAN_FRONTEND=noninteractive apt-get -qqy --no-install-recommends install python3-pytest
        build/run /usr/bin/python3 -m pytest -q tests/web/test_addresses.py
        echo versions: \
        \$(dpkg-query -W -f '\${source:Package} \${Version}, ' g++ python3 gnuradio pybind11-dev)" || return
    sed -n 's/^versions: \(.*\),/\1/p' "$2"
}

test_all() {
    in_clone "$1" "$2" "./hf test --all" || { grep -a '^tests: ' "$2"; return 1; }
    grep -a '^tests: ' "$2"
}

packages() {
    SUITE=$1 FOLDER=$folder/$1/packages "$here/clean.sh" build lintian autopkgtest >"$2" 2>&1 || return
    echo "build, lintian, autopkgtest"
}

compilers() {
    in_clone "$1" "$2" "./hf test --help # installs what a build needs
        clang=\$(apt-cache search --names-only '^clang-[0-9]+$' | cut -d' ' -f1 | sort -V | tail -n 1)
        DEBIAN_FRONTEND=noninteractive apt-get -qy --no-install-recommends install g++-13 \$clang
        for compiler in g++-13 g++-14 \${clang/clang/clang++}; do
            \$compiler --version | sed -n '1s/^/compiler: /p'
            # The suite's GoogleTest needs the libstdc++ of the suite's own compiler.
            cmake -G Ninja -B build-\$compiler -DHF_WERROR=ON -DCMAKE_CXX_COMPILER=\$compiler \\
                -DCMAKE_CXX_STANDARD_LIBRARIES=-l:libstdc++.so.6
            ninja -C build-\$compiler -k 0
        done" || return
    sed -n 's/^compiler: //p' "$2" | paste -sd';' | sed 's/;/, /g'
}

arm64() {
    SUITE=$1 FOLDER=$folder/$1/arm64 "$here/arm64.sh" >"$2" 2>&1 || { tail -n 1 "$2"; return 1; }
    tail -n 1 "$2"
}

run() {
    local suite=$1 step=$2 log=$folder/$1-$2.log begin=$SECONDS passed=passed figure
    mkdir -p "$folder/records" "$folder/$suite"
    say "$suite: $step"
    [ "$step" = test ] && step=test_all
    figure=$("$step" "$suite" "$log") || passed=FAILED
    printf '| %s | %s | %s | %s | %s min | %s | %s |\n' "$suite" "$2" "$passed" "$figure" \
        $(((SECONDS - begin + 59) / 60)) "$(date +%F)" "$commit" >"$folder/records/$suite-$2"
    [ $passed = passed ] || { tail -n 20 "$log" >&2; say "$suite: $2 failed, see $log"; failed=1; }
}

failed=
[ $# -gt 0 ] || set -- trixie bookworm sid
for word in "$@"; do
    suite=${word%%:*}
    [ -n "${steps[$suite]:-}" ] || { say "no suite $suite; there are ${!steps[*]}"; exit 2; }
    chosen=${steps[$suite]}
    [ "$word" = "$suite" ] || chosen=${word#*:}
    for step in $chosen; do
        case $step in
        demo | test | packages | compilers | arm64) run "$suite" "$step" ;;
        *) say "no step $step"; exit 2 ;;
        esac
    done
done
echo "| suite | step | result | figure | time | date | commit |"
echo "|---|---|---|---|---|---|---|"
cat "$folder"/records/*
[ -z "$failed" ]
