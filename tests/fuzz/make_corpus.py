# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeds of the fuzz targets from the golden vectors: make_corpus.py FOLDER.

Targets that are told more than one thing read records: one octet of length, or 255 and two
octets, then so many octets (input.h).
"""
import json
import pathlib
import sys

VECTORS = pathlib.Path(__file__).parent.parent / "vectors"


def record(octets):
    size = len(octets)
    return (bytes([size]) if size < 255 else b"\xff" + size.to_bytes(2, "big")) + octets


def s5066():
    """Kind and octets of each vector."""
    found, kind, name = [], "", ""
    for line in (VECTORS / "s5066.vec").read_text().splitlines():
        words = line.split()
        if words[:1] == ["vector"]:
            name, kind = words[1], words[2]
        elif words[:1] == ["hex"] and len(words) == 2:
            found.append((name, kind, bytes.fromhex(words[1])))
    return found


def soft_bits():
    """A station, its link, and damaged receptions with soft bits: what fuzz_node reads."""
    link = bytes([7, 1, 0, 0])

    def data(number, flags, size):
        return (bytes([0, 1, 1, 0, 0, 4, number, flags, 0]) + bytes(12) +
                record(bytes(range(1, 1 + size))))

    # Two copies whose octets are damaged, and one of noisy soft bits before them.
    copy = bytes([1]) + data(0, 0x0f, 40) + b"\x05" + record(bytes([25, 255, 30, 1]))
    yield link + copy + record(b"") + b"\0"
    yield link + copy + record(bytes(x for k in range(60) for x in (4 * k, 0x85))) + b"\0" + \
        copy + record(b"") + b"\0"
    # Three D_PDUs, the header of the second one damaged.
    three = bytes([1 | 2 << 3]) + data(0, 7, 10) + data(1, 4, 10) + data(2, 4, 10)
    size = 32  # of each: 18 of header, 10, and a CRC of 4
    for wrong in ((size + 3, 255), (size + 3, 255, size + 20, 255), (2 * size + 3, 255)):
        yield link + three + b"\x04" + record(bytes(wrong)) + record(b"") + b"\0"
    # Blocks of which one is missing, and one whose soft bits are at an impossible place.
    long = bytes([1]) + data(0, 0x0f, 200) + b"\x0c" + record(bytes([100, 255])) + record(b"")
    yield link + long + bytes([45, 0, 45, 233, 45, 0])
    yield link + long + bytes([159, 255, 255, 255, 255, 0, 45, 0, 45, 0])


def seeds():
    """Target and octets."""
    vectors = s5066()
    of = {}
    for _, kind, octets in vectors:
        of.setdefault(kind, []).append(octets)
    for octets in of["sis"]:
        yield "sis", octets
        yield "node", b"\x03" + record(octets)
    yield "sis", b"".join(of["sis"][:12])
    for octets in of["dts"]:
        yield "d_pdu", octets
        yield "d_pdu", record(octets)
        yield "node", b"\x00" + record(octets)
    # A link, data, time, a transmission.
    yield "node", bytes([7, 1, 0, 0]) + bytes([5, 0x90]) + bytes([4, 0, 0, 3, 0, 0, 0, 0, 60]) + \
        bytes(60) + bytes([5, 0xA0, 6, 5, 0x90, 6])
    yield "node", bytes([7, 2, 0, 0, 1, 0, 1, 1, 0, 0, 4, 0, 47]) + bytes(40)
    for octets in soft_bits():
        yield "node", octets
    for kind in ("spdu", "cpdu"):
        for octets in of.get(kind, []):
            yield "pdu", octets
    for kind, many in of.items():
        if kind not in ("sis", "dts", "spdu", "cpdu"):
            for octets in many:
                yield "clients", octets
                yield "clients", b"\x01" + record(octets)
    for vector in json.loads((VECTORS / "slep.json").read_text()):
        octets = bytes.fromhex(vector["hex"])
        for target in ("slep", "pep", "dns"):
            yield target, octets
            # A U_PDU of a peer, then its time.
            yield target, bytes([15, 1, 1, 1]) + record(octets) + bytes([15, 6, 0xA0])
    for line in (VECTORS / "modem_interface.vec").read_text().splitlines():
        words = line.split()
        if words[0] != "packet":
            continue
        octets = bytes.fromhex(words[3])
        yield "modem_interface", octets
        if octets[0] == 0x49:
            yield "modem_sessions", bytes([0, 0, 0]) + record(octets)
            if len(octets) > 8:
                yield "modem_interface", octets[8:-2]
                yield "modem_sessions", bytes([0, 0, 1]) + record(octets[8:-2]) + bytes([5, 7])
        else:
            yield "modem_interface", record(octets[:-2])
            yield "modem_sessions", bytes([1, 0, 0]) + record(octets)
    # A whole transmission, TCP: arm, data, start, ticks, pulls.
    yield "modem_sessions", bytes([0, 0, 1]) + record(b"\x01") + bytes([0, 1]) + \
        record(b"\x00\x02" + bytes(12) + b"hello") + bytes([0, 1]) + record(b"\x02") + \
        bytes([5, 7, 7, 6, 5, 0, 1]) + record(b"\x05\x03" + bytes(16)) + bytes([5, 1, 0, 1]) + \
        record(b"\x05\x04" + bytes(16)) + bytes([5, 1, 5, 1])
    # IP: UDP and TCP SYN on IPv4, ICMPv6 echo.
    udp = bytes.fromhex("4500002000000000401100000a4200010a42000204d2003500" "0c0000") + b"data"
    syn = bytes.fromhex("4500002c00000000400600000a4200010a420002"
                        "04d2005000000001000000006002ffff00000000020405b4")
    echo = bytes.fromhex("600000000008 3a40".replace(" ", "")) + bytes(16) + \
        bytes([0] * 15 + [2]) + bytes.fromhex("8000000000010001")
    for octets in (udp, syn, echo):
        yield "ip", octets
        yield "ip", b"\x44" + record(octets)
        yield "ip", b"\x51" + record(octets)
    # DNS: a query, and a response with an address.
    query = bytes.fromhex("123401000001000000000000") + b"\x07example\x03org\x00\x00\x01\x00\x01"
    answer = bytes.fromhex("123481800001000100000000") + query[12:] + \
        bytes.fromhex("c00c00010001000000780004") + b"\x0a\x00\x00\x01"
    yield "dns", query
    yield "dns", answer
    yield "dns", b"\x00" + record(query) + b"\x02\x06\xa0\x01" + record(answer)
    # SOCKS5, SOCKS4a and CONNECT.
    yield "pep", b"\x05\x01\x00\x05\x01\x00\x03\x0bexample.org\x00\x50"
    yield "pep", b"CONNECT example.org:80 HTTP/1.1\r\nHost: example.org\r\n\r\n"
    yield "pep", bytes([64, 0, 80, 5, 6, 0xA0, 1]) + record(b"GET / HTTP/1.0\r\n\r\n")
    yield "pep", b"\x04\x01\x00\x50\x00\x00\x00\x01me\x00example.org\x00"


def sealed():
    """Sealed U_PDUs of the golden table, and stations that seal, open, replay and restart."""
    for line in (VECTORS / "auth.csv").read_text().splitlines()[1:]:
        yield "auth", b"\3" + record(b"\x44" + bytes.fromhex(line.split(",")[-1]))
    seal = b"\0\x44" + record(b"CQ de")
    first, changed, restart, hour = b"\1\0", b"\2\0\0\0\3\1", b"\5", b"\4\xa7"
    yield "auth", seal + first + first + restart + first
    yield "auth", 3 * seal + b"\1\2" + changed + b"\1\1" + first + first
    yield "auth", seal + changed * 40 + hour + first + restart + b"\1\0"


def words_of_ale():
    """Target and octets: the golden sequences of 2G ALE, each word after a 0."""
    sequences = {}
    for line in (VECTORS / "ale" / "words.vec").read_text().splitlines():
        if not line.startswith("#"):
            name, text, bits, _ = line.split("\t")
            sequences[name] = sequences.get(name, b"") + b"\0" + bytes.fromhex(bits)
            yield "ale", text.encode()
    yield "ale", b'TO JOE TO BOBBY FROM SAM LQA 13 dB 3 bit errors 2 ms wanted AMD "HI" TIS SAM'
    for octets in sequences.values():
        yield "ale", octets + b"\2\2\2\1"


def main():
    folder = pathlib.Path(sys.argv[1])
    count = {}
    for target, octets in (*seeds(), *sealed(), *dict.fromkeys(words_of_ale())):
        count[target] = count.get(target, 0) + 1
        path = folder / target / f"seed-{count[target]:03}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(octets)
    for target, n in sorted(count.items()):
        print(f"{target}: {n}")


if __name__ == "__main__":
    main()
