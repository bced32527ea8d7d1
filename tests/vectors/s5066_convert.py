#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns the golden PDUs (JSON) into s5066.vec: one block of lines per vector.

vector ID LAYER / hex OCTETS / field NAME VALUE ... / an empty line.
"""
import json
import sys

golden = json.load(open(sys.argv[1]))
for v in golden["vectors"]:
    print("vector", v["id"], v["layer"])
    print("hex", v["hex"])
    for name, value in v["fields"].items():
        text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        print("field", name, text)
    print()
