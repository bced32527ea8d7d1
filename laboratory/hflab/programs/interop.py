# SPDX-License-Identifier: GPL-3.0-or-later
"""Foreign programs and recordings beside ours. The user fetches them: clones below one folder,
each named as its repository. None of them is part of this project.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
from typing import Callable, Dict, Iterator, List, NamedTuple

from gnuradio.hf.system import netns


class Cell(NamedTuple):
    """One thing tried. theirs: program and version. result: what came, or why it was not tried.
    good: None if it was not tried."""

    what: str
    theirs: str
    result: str
    good: "bool | None"


def version(clone: str) -> str:
    """Name of a clone, its commit and the date of that."""
    ran = subprocess.run(["git", "-C", clone, "log", "-1", "--format=%h of %ad", "--date=short"],
                         capture_output=True, text=True)
    return f"{os.path.basename(clone)} {ran.stdout.strip() or 'of unknown version'}"


# --- recordings of other transmitters -----------------------------------------------------------

#: Text of the recordings of MS-DMT, MIL-STD-188-110A.
TEXT = b"THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG 1234567890"


def _demodulated(*arguments: str) -> "tuple[bytes, str]":
    ran = subprocess.run(["hf", "demodulate", "--json", *arguments], capture_output=True)
    modes = [json.loads(line).get("mode", "") for line in ran.stderr.decode().splitlines()
             if line.startswith("{")]
    return ran.stdout, " ".join(filter(None, modes))


def ms_dmt(clone: str) -> Iterator[Cell]:
    """Recordings of the program MS-DMT, kept by pennington_m110a_demod."""
    folder = os.path.join(clone, "release", "examples", "refrence_pcm")
    for name in sorted(os.listdir(folder)):
        found = re.match(r"tx_(\d+)([SL])_.*\.pcm$", name)
        if not found:
            continue
        mode = f"4539-{found.group(1)}{found.group(2)}"
        octets, heard = _demodulated("--format", "s16le", "--sample-rate", "48000",
                                     os.path.join(folder, name))
        yield Cell(f"our receiver, recording of {mode}", f"MS-DMT 3.00 in {version(clone)}",
                   f"{heard or 'nothing'}, {_equal(octets, TEXT)}",
                   octets == TEXT and heard == mode)


def _equal(octets: bytes, expected: bytes) -> str:
    wrong = sum(a != b for a, b in zip(octets, expected)) + abs(len(octets) - len(expected))
    return f"{len(expected)} octets right" if not wrong else \
        f"{wrong} of {len(expected)} octets wrong"


#: What the frames of packet radio in these samples begin with: the sync word of IL2P.
IL2P = bytes.fromhex("F15E48")


def pdn_soundmodem(clone: str) -> Iterator[Cell]:
    """Samples of MIL-STD-188-110D Appendix D that pdn-soundmodem keeps."""
    folder = os.path.join(clone, "samples", "demo")
    for name in sorted(os.listdir(folder)):
        if "ms110d" in name and name.endswith(".wav"):
            octets, heard = _demodulated(os.path.join(folder, name))
            yield Cell(f"our receiver, sample {name}", version(clone),
                       f"{heard or 'nothing'}, {len(octets)} octets, {octets[:3].hex()} first",
                       octets.startswith(IL2P))


# --- rds-5066 ----------------------------------------------------------------------------------

#: Uses their codec of S_primitives to exchange a U_PDU between two servers; prints a JSON object.
SIS_CLIENT = """
import json, socket, sys, time
from src import s_primitive_codec as codec
from src.stypes import SPrimitiveType as kind
class Client:
    def __init__(self, port):
        self.socket, self.held = socket.create_connection(("127.0.0.1", port), 60), b""
        self.socket.settimeout(120)
        self.socket.sendall(codec.encode_bind_request(5))
        self.mtu = codec.decode_bind_accepted(self.wait(kind.S_BIND_ACCEPTED))["mtu"]
    def wait(self, wanted):
        while True:
            try:
                number, payload, used = codec.decode_s_primitive(self.held)
            except ValueError:
                more = self.socket.recv(65536)
                if not more:
                    raise SystemExit("the server has closed the connection")
                self.held += more
                continue
            self.held = self.held[used:]
            if number == wanted:
                return payload
ports, addresses = json.loads(sys.argv[1]), json.loads(sys.argv[2])
a, b = Client(ports[0]), Client(ports[1])
data = bytes(range(256)) * 4
mode = codec.encode_delivery_mode(1, 1)[0]
a.socket.sendall(codec.encode_unidata_request(5, 5, addresses[1], mode, 600, data))
got = codec.decode_unidata_indication(b.wait(kind.S_UNIDATA_INDICATION))
a.wait(kind.S_UNIDATA_REQUEST_CONFIRM)
print(json.dumps({"mtu": a.mtu, "same": got["updu"] == data, "source": got["src_addr"]}))
"""

#: What differs there, at the version of 2026-04-30.
SIS_DIFFERS = ("; they send the size field with its low octet first, and a service type with two "
               "bits for the mode. A.2.2 and tshark have the high octet first, and four bits")
#: Reads D_PDUs, one in hexadecimal a line, with their decoder; prints a JSON object.
D_PDU_READER = """
import collections, json, sys
from src import dpdu_frame as frame
good, bad = collections.Counter(), []
for line in sys.stdin:
    octets = bytes.fromhex(line)
    try:
        d = frame.decode_dpdu(octets)
        right = frame.dpdu_validate_header_crc(d) and frame.dpdu_validate_data_crc(d)
        again = frame.encode_dpdu(d)
        if right and octets.rstrip(b"\\0") == again.rstrip(b"\\0"):
            good[d.dpdu_type.name] += 1
            continue
        why = "encoded again: " + again.hex() if right else "a CRC does not match"
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
    bad.append([octets.hex(), why])
print(json.dumps({"good": good, "bad": bad}))
"""


def _theirs(clone: str, program: str, *arguments: str, given: str = "") -> Dict:
    """What a program with their code prints. Raises RuntimeError with what went wrong."""
    ran = subprocess.run([sys.executable, "-c", program, *arguments], cwd=clone, text=True,
                         input=given, capture_output=True, timeout=600)
    if ran.returncode != 0:
        raise RuntimeError((ran.stderr.strip() or f"status {ran.returncode}").splitlines()[-1])
    return json.loads(ran.stdout)


def _captured(path: str) -> List[bytes]:
    """The packets of a capture (pcap, little endian)."""
    with open(path, "rb") as file:
        data = file.read()
    at, found = 24, []
    while at + 16 <= len(data):
        size, = struct.unpack_from("<I", data, at + 8)
        found.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return found


class _Stations:
    """Two stations with SIS servers, in fast time; a context manager. captures: their D_PDUs."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hf-interop-")
        self.ports = netns.free_tcp_ports(2)

    def __enter__(self) -> "_Stations":
        folder = self._folder.name
        for k, port in enumerate(self.ports, 1):
            with open(os.path.join(folder, f"{k}.toml"), "w", encoding="ascii") as file:
                file.write(f'address = "1.2.0.{k}"\nmode = "4539-2400S"\n'
                           f"[sis_server]\nport = {port}\n")
        self._process = subprocess.Popen(
            ["hf", "run", "--speed", "20", "--quiet", "--pcap", folder, "1.toml", "2.toml"],
            cwd=folder, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        for _ in self.ports:
            self._process.stderr.readline()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    def stop(self) -> None:
        """End them, so that their captures are whole."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.communicate()

    def send_a_file(self) -> None:
        """Traffic: a file of 5 kB from the first to the second. Raises RuntimeError."""
        folder = self._folder.name
        inbox = os.path.join(folder, "inbox")
        os.mkdir(inbox)
        path = os.path.join(folder, "file")
        with open(path, "wb") as file:
            file.write(os.urandom(5000))
        here, there = (f"127.0.0.1:{port}" for port in self.ports)
        with subprocess.Popen(["hf", "receive", inbox, "--server", there],
                              stderr=subprocess.DEVNULL) as receiver:
            try:
                ran = subprocess.run(["hf", "send", path, "--to", "1.2.0.2", "--server", here],
                                     capture_output=True, text=True, timeout=300)
            finally:
                receiver.terminate()
        if ran.returncode != 0:
            raise RuntimeError(ran.stderr.strip())

    def captured(self) -> List[bytes]:
        """Every D_PDU that a station has sent or received."""
        found = []
        for k in (1, 2):
            found += _captured(os.path.join(self._folder.name, f"1.2.0.{k}-d_pdu.pcap"))
        return found


def rds_5066(clone: str) -> Iterator[Cell]:
    """Their client codec at our SIS servers, and their D_PDU decoder on what we send."""
    name = version(clone)
    node = {k: 1 << 24 | 2 << 16 | k for k in (1, 2)}
    with _Stations() as stations:
        time.sleep(1)
        try:
            said = _theirs(clone, SIS_CLIENT, json.dumps(stations.ports),
                           json.dumps(list(node.values())))
            good = said["same"] and said["source"] == node[1] and said["mtu"] == 2048
            result = "bound, MTU 2048, 1024 octets delivered and confirmed" if good else str(said)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            good, result = False, str(error)
        yield Cell("their S_primitives at our SIS server", name, result + SIS_DIFFERS * (not good),
                   good)
        try:
            stations.send_a_file()
            stations.stop()
            read = _theirs(clone, D_PDU_READER,
                           given="".join(d.hex() + "\n" for d in stations.captured()))
        except RuntimeError as error:
            yield Cell("their decoder on our D_PDUs", name, str(error), False)
            return
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(read["good"].items()))
    yield Cell("their decoder on our D_PDUs, and encoded again", name,
               f"equal: {kinds or 'none'}" + "".join(f"; {why} ({octets[:40]}...)"
                                                     for octets, why in read["bad"][:3]),
               bool(read["good"]) and not read["bad"])


#: What is tried, by the name of the clone.
TRIED: Dict[str, Callable[[str], Iterator[Cell]]] = {
    "pennington_m110a_demod": ms_dmt,
    "pdn-soundmodem": pdn_soundmodem,
    "rds-5066": rds_5066,
}


def matrix(folder: str) -> Iterator[Cell]:
    """Every cell whose foreign part is in the folder; for the others, where it is."""
    for name, tried in TRIED.items():
        clone = os.path.join(folder, name)
        if os.path.isdir(clone):
            yield from tried(clone)
        else:
            yield Cell(name, name, f"not tried: {clone} is missing", None)


def table(cells: List[Cell]) -> str:
    """Cells as a Markdown table."""
    words = {True: "yes", False: "**NO**", None: "-"}
    lines = ["| what | theirs | result | works |", "|---|---|---|---|"]
    lines += [f"| {c.what} | {c.theirs} | {c.result} | {words[c.good]} |" for c in cells]
    return "\n".join(lines)
