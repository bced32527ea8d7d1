#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the golden waveform vectors from NumPy archives to files a C++ test can read.

    convert.py FACTS OUT

FACTS is a folder that holds the archives (manifest.json and *.npz in its folder golden) and the
tables (in its folder tables). OUT is the folder to write to. Every input is checked against the
SHA-256 in the manifest before it is converted.

Format of a .vec file: lines of text, then octets.

    hfvec 1
    <key> <value>                 any number: family, rate, interleaver, agc_blocks, eom
    array <name> <count> <type>   any number: in the order of the data below
    data
    <octets of the arrays, one after the other>

Types: bits = 8 to an octet, first bit in bit 0, last octet filled with zeros; u8 = one
octet each; u16 = two octets each, low octet first. The array "symbols" holds the number sent
in bits 0..6; bit 7 is set where "kind" says data (high rate only).
"""
import argparse
import hashlib
import json
import pathlib
import shutil

import numpy as np

TABLES = ("st_sync_scrambler", "st_data_scrambler", "st_mgd", "st_walsh75", "st_modes",
          "st_preamble_fixed288", "st_preamble_segments", "hr_modes", "hr_preamble",
          "hr_constellations", "hr_transcoding", "hr_scrambler", "hr_miniprobe_signs")


def write_vec(path, fields, arrays):
    """Write one file; arrays is a list of (name, type, array)."""
    head, body = ["hfvec 1"], b""
    head += [f"{k} {v}" for k, v in fields.items()]
    for name, kind, a in arrays:
        head.append(f"array {name} {a.size} {kind}")
        if kind == "bits":
            body += np.packbits(a.astype(np.uint8), bitorder="little").tobytes()
        else:
            body += a.astype({"u8": "<u1", "u16": "<u2"}[kind]).tobytes()
    path.write_bytes(("\n".join(head) + "\ndata\n").encode() + body)


def check(a, want, what):
    """Stop unless the array has the hash of the manifest."""
    if hashlib.sha256(a.astype(np.uint8).tobytes()).hexdigest() != want:
        raise SystemExit(f"{what}: hash differs from the manifest")


def convert_vector(facts, out, entry):
    z = np.load(facts / "golden" / entry["file"], allow_pickle=False)
    check(z["input_bits"], entry["sha256_input_bits"], entry["file"])
    check(z["symbols"], entry["sha256_symbols"], entry["file"])
    il = str(entry["interleaver"])
    fields = {"family": entry["family"], "rate": entry["rate"],
              "interleaver": il if il in "N Z US VS S M L VL V".split() else "N",
              "agc_blocks": entry.get("agc_blocks", 0), "eom": int(entry["eom"])}
    symbols = z["symbols"].astype(np.uint8)
    if "kind" in z:
        symbols = symbols | (z["kind"].astype(np.uint8) << 7)
    arrays = [("input_bits", "bits", z["input_bits"]), ("symbols", "u8", symbols)]
    for name in z:
        if name.startswith("block1_"):
            arrays.append((name, "u8" if "tribits" in name else "bits", z[name]))
    write_vec(out / (pathlib.Path(entry["file"]).stem + ".vec"), fields, arrays)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("facts", type=pathlib.Path)
    p.add_argument("out", type=pathlib.Path)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    vectors = json.loads((a.facts / "golden/manifest.json").read_text())["vectors"]
    for entry in vectors:
        convert_vector(a.facts, a.out, entry)
    perms = np.load(a.facts / "tables/st_interleaver_permutations.npz")
    write_vec(a.out / "st_interleaver_permutations.vec", {},
              [(name, "u16", perms[name]) for name in perms])
    for name in TABLES:
        shutil.copyfile(a.facts / "tables" / f"{name}.csv", a.out / f"{name}.csv")
    print(f"{len(vectors)} vectors, {len(TABLES)} tables")


if __name__ == "__main__":
    main()
