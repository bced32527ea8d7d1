#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Style of our own code: lint.sh python | cpp. 77: the tool is not installed.
# The judges are flake8 and clang-format of Debian 12, where CI runs this. Other versions differ.
set -eu
cd "$(dirname "$0")/../.."

need() {
    command -v "$1" >/dev/null 2>&1 || { echo "$1 is not installed"; exit 77; }
}

case ${1:-} in
python)
    need flake8
    exec flake8 --max-line-length 99 python examples tests apps/hf.in apps/make_manual.py \
        docs/site laboratory
    ;;
cpp)
    need clang-format
    find include lib python tests laboratory -name '*.h' -o -name '*.cc' |
        xargs clang-format --dry-run -Werror --ferror-limit=1
    ;;
*)
    echo "usage: lint.sh python | cpp" >&2
    exit 2
    ;;
esac
