# SPDX-License-Identifier: GPL-3.0-or-later
"""The bench of foreign programs, with stand-ins for them."""
import subprocess
import wave

from hflab.programs import interop
import pytest


def recordings(folder, text, mode="4539-600S"):
    """A clone with one recording, made by us."""
    there = folder / "pennington_m110a_demod" / "release" / "examples" / "refrence_pcm"
    there.mkdir(parents=True)
    subprocess.run(["hf", "modulate", "--mode", mode, "-", str(folder / "made.wav")], input=text,
                   check=True)
    with wave.open(str(folder / "made.wav")) as file:
        (there / "tx_600S_1.pcm").write_bytes(file.readframes(file.getnframes()))
    (there / "tx_600S_metadata.json").write_text("{}")


@pytest.mark.parametrize("text, mode, good", [
    (interop.TEXT, "4539-600S", True), (interop.TEXT[:-1] + b"1", "4539-600S", False),
    (interop.TEXT, "4539-600L", False)])
def test_a_recording_counts_with_its_mode_and_every_octet(tmp_path, text, mode, good):
    recordings(tmp_path, text, mode)
    found, *missing = interop.matrix(str(tmp_path))
    assert found.good is good and mode in found.result
    assert [cell.good for cell in missing] == [None, None]
    assert "rds-5066 is missing" in missing[-1].result


@pytest.mark.parametrize("octets, good", [(interop.IL2P + b"data", True), (b"data", False)])
def test_a_sample_counts_with_its_sync_word(tmp_path, octets, good):
    there = tmp_path / "pdn-soundmodem" / "samples" / "demo"
    there.mkdir(parents=True)
    subprocess.run(["hf", "modulate", "--mode", "5069-3k-300S-reversed", "-",
                    str(there / "09-ms110d-x.wav")], input=octets, check=True)
    _, found, _ = interop.matrix(str(tmp_path))
    assert found.good is good and octets[:3].hex() in found.result


def test_a_foreign_program_that_fails_is_told_and_the_rest_goes_on(tmp_path):
    source = tmp_path / "rds-5066" / "src"
    source.mkdir(parents=True)
    (source / "__init__.py").write_text("")
    (source / "dpdu_frame.py").write_text(
        "class Type:\n    name = 'ANY'\nclass Frame:\n    dpdu_type = Type\n"
        "def decode_dpdu(octets):\n    Frame.octets = octets\n    return Frame\n"
        "def encode_dpdu(frame):\n    return frame.octets\n"
        "def dpdu_validate_header_crc(frame):\n    return True\n"
        "def dpdu_validate_data_crc(frame):\n    return len(frame.octets) < 60\n")
    *_, sis, d_pdus = interop.matrix(str(tmp_path))
    assert sis.good is False and "s_primitive_codec" in sis.result
    assert d_pdus.good is False
    assert "a CRC does not match" in d_pdus.result and "ANY" in d_pdus.result


def test_the_table_tells_what_was_not_tried():
    text = interop.table([interop.Cell("a", "b 1", "c", True), interop.Cell("d", "e", "f", False),
                          interop.Cell("g", "h", "not tried", None)])
    assert [line[-6:].strip() for line in text.splitlines()[2:]] == ["yes |", "NO** |", "| - |"]
