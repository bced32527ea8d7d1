# SPDX-License-Identifier: GPL-3.0-or-later
"""The host ports without a station: their answers line by line, and their limits."""
import asyncio
import struct

from gnuradio.hf.host import agwpe, ardop, ax25, kiss, lines, vara
import pytest

from sides import Writer, frames_of, program_at, side

UNKNOWN = "is no call sign of this station, which has LA1AAA, LA1AAA-7"


def check_lines(port, exchanges):
    for command, answers in exchanges:
        port.line(command)
        got = [line.decode() for line in port._command.taken().split(b"\r")[:-1]]
        assert got == answers, command


ARDOP = [
    ("STATE", ["STATE DISC"]), ("CODEC", ["CODEC TRUE"]), ("codec true", ["CODEC now TRUE"]),
    ("MYCALL", ["MYCALL"]), ("ARQCALL LA1BBB 5", ["FAULT MYCALL not set"]),
    ("MYCALL la1aaa", ["MYCALL now LA1AAA"]), ("MYCALL", ["MYCALL LA1AAA"]), ("MYAUX", ["MYAUX"]),
    ("MYCALL LA1BBB", [f"FAULT MYCALL: LA1BBB {UNKNOWN}"]),
    ("MYAUX la1aaa-7, ", ["MYAUX now LA1AAA-7"]), ("MYAUX", ["MYAUX LA1AAA-7"]),
    ("LISTEN", ["LISTEN FALSE"]), ("LISTEN true", ["LISTEN now TRUE"]),
    ("LISTEN x", ["FAULT SYNTAX ERR: LISTEN x"]), ("LISTEN", ["LISTEN TRUE"]),
    ("LISTEN FALSE", ["LISTEN now FALSE"]), ("LISTEN", ["LISTEN FALSE"]),
    ("arqbw", ["ARQBW 2000MAX"]), ("ARQBW 500max", ["ARQBW now 500MAX"]),
    ("ARQBW", ["ARQBW 500MAX"]), ("ARQBW 300MAX", ["FAULT SYNTAX ERR: ARQBW 300MAX"]),
    ("GRIDSQUARE", ["GRIDSQUARE"]), ("SQUELCH 6", ["SQUELCH now 6"]),
    ("FSKONLY 1", ["FAULT SYNTAX ERR: FSKONLY 1"]), ("FSKONLY true", ["FSKONLY now TRUE"]),
    ("CWID onoff", ["CWID now ONOFF"]), ("ping x", ["PING"]),
    ("X y", ["FAULT CMD X NOT RECOGNIZED"]),
    ("ARQCALL LA1BBB", ["FAULT SYNTAX ERR: ARQCALL LA1BBB"]),
    ("ARQCALL LA1BBB x", ["FAULT SYNTAX ERR: ARQCALL LA1BBB x"]),
    ("ARQCALL LA1AAA 5", ["FAULT LA1AAA is this station itself"]),
    ("ARQCALL LA9XYZ 5", ["FAULT LA9XYZ is not in the table [host.calls]"]),
    ("DISCONNECT", ["DISCONNECT IGNORED", "NEWSTATE DISC"]), ("ABORT", ["ABORT"]), ("DD", ["DD"]),
    ("BUFFER", ["BUFFER 0"]), ("DATATOSEND", ["DATATOSEND 0"]),
    ("DATATOSEND 0", ["PURGEBUFFER", "BUFFER 0"]), ("FECSEND x", ["FAULT SYNTAX ERR: FECSEND x"]),
    ("FECSEND TRUE", ["FECSEND now TRUE"])]


def test_answers_of_the_ardop_port():
    async def run():
        one = side()
        (port,) = one.ports
        check_lines(port, ARDOP)
        port.idle_data(b"x" * ardop.FEC_MAX)
        port.idle_data(b"y")
        assert port._command.taken().decode() == (
            f"BUFFER {ardop.FEC_MAX}\rFAULT more than {ardop.FEC_MAX} octets wait\r")
        check_lines(port, [("FECSEND FALSE", ["FECSEND now FALSE"]),
                           ("DATATOSEND", [f"DATATOSEND {ardop.FEC_MAX}"]),
                           ("FECSEND true", ["FECSEND now TRUE", "NEWSTATE FECSEND", "BUFFER 0",
                                             "NEWSTATE DISC"]), ("BUFFER", ["BUFFER 0"])])
        assert one.sent == [b"x" * ardop.FEC_MAX]
        port.idle_data(b"z")
        check_lines(port, [("PURGEBUFFER", ["BUFFER 1", "PURGEBUFFER", "BUFFER 0"])])
        port.heard(b"d" * (ardop.BLOCK_MAX + 1))
        assert port._data.taken() == b"\x03\xebFEC" + b"d" * 1000 + b"\x00\x04FECd"
        port.reset()
        check_lines(port, ARDOP[3:5] + [("ARQBW", ["ARQBW 2000MAX"])])

    asyncio.run(run())


VARA = [
    ("BW500", ["OK"]), ("BW600", ["WRONG"]), ("chat on", ["OK"]), ("CHAT", ["WRONG"]),
    ("RETRIES 12", ["OK"]), ("RETRIES 1234", ["WRONG"]), ("P2P SESSION", ["OK"]),
    ("MYCALL", ["WRONG"]), ("MYCALL LA1BBB", ["WRONG"]),
    ("CONNECT LA1AAA LA1BBB", ["OK", "DISCONNECTED"]),
    ("MYCALL" + 5 * " LA1AAA", ["OK"] + 5 * ["REGISTERED LA1AAA"]),
    ("MYCALL" + 6 * " LA1AAA", ["WRONG"]), ("MYCALL la1aaa", ["OK", "REGISTERED LA1AAA"]),
    ("LISTEN x", ["WRONG"]), ("LISTEN cq", ["OK"]), ("CONNECT LA1AAA", ["WRONG"]),
    ("CONNECT LA1AAA-7 LA1BBB", ["OK", "DISCONNECTED"]),
    ("CONNECT LA1AAA LA1AAA", ["OK", "DISCONNECTED"]), ("DISCONNECT", ["OK", "DISCONNECTED"]),
    ("ABORT", ["OK", "DISCONNECTED"]), ("CQFRAME", ["WRONG"]), ("CQFRAME LA1BBB", ["WRONG"]),
    ("CQFRAME LA1AAA", ["OK"]), ("CQFRAME LA1AAA 500", ["OK"])]


def test_answers_of_the_vara_port():
    async def run():
        one = side(kinds=[vara.VaraPort])
        (port,) = one.ports
        check_lines(port, VARA)
        assert port.listening and one.sent == [b"CQFRAME LA1AAA 2300", b"CQFRAME LA1AAA 500"]
        check_lines(port, [("LISTEN OFF", ["OK"])])
        assert not port.listening and port._bandwidth == "500"
        for data, told in ((b"CQFRAME la1bbb 500", b"CQFRAME LA1BBB 500\r"), (b"CQFRAME A 5", b""),
                           (b"CQFRAME 1234 5", b""), (b"XCQFRAME LA1BBB 5", b"")):
            port.heard(data)
            assert port._command.taken() == told
        assert port.framed("ARQ", b"x") == b"x" and port.data_begins(b"x") is False
        assert port.knows("bw500") and port.knows("mycall x") and not port.knows("GET / HTTP/1.1")
        port.reset()
        assert port._bandwidth == "2300" and not port.calls

    asyncio.run(run())


def test_a_program_that_reads_nothing_is_dropped():
    async def run():
        (port,) = side().ports
        for waiting, dropped in ((lines.UNREAD_MAX, False), (lines.UNREAD_MAX + 1, True)):
            port._command = Writer(waiting)
            port.tell("x")
            assert port._command.aborted == dropped
        program = agwpe._Program(None, Writer(agwpe.UNREAD_MAX))
        program.tell(agwpe.Frame("X", "", ""))
        assert program.writer.octets and not program.writer.aborted
        program.writer = Writer(agwpe.UNREAD_MAX + 1)
        program.tell(agwpe.Frame("X", "", ""))
        assert program.writer.aborted and not program.writer.octets
        modem = kiss.KissPort(side().engine, None)
        modem._programs = [Writer(kiss.UNREAD_MAX), Writer(kiss.UNREAD_MAX + 1)]
        modem.heard(b"x")
        assert [w.aborted for w in modem._programs] == [False, True]
        assert [w.octets for w in modem._programs] == [b"\xc0\0x\xc0", b""]

    asyncio.run(run())


# --- AGWPE and KISS -----------------------------------------------------------------------------

def test_answers_of_the_agwpe_port():
    async def run():
        one = side(kinds=[agwpe.AgwpePort])
        (port,) = one.ports
        first, second = program_at(port), program_at(port)

        async def ask(program, kind, source="", to="", data=b""):
            await program.take(agwpe.Frame(kind, source, to, data))
            return frames_of(program.writer.taken())

        assert await ask(first, "R") == [("R", "", "", struct.pack("<HHHH", 2005, 0, 127, 0))]
        assert await ask(first, "G") == [("G", "", "", b"1;Port1 HF data link;\0")]
        assert await ask(first, "g") == [("g", "", "", b"\3\0\0\0\0\0\x7f\0\0\0\0\0")]
        assert await ask(first, "X", "LA1BBB") == [("X", "LA1BBB", "", b"\0")]
        assert await ask(first, "X", "la1aaa") == [("X", "la1aaa", "", b"\1")]
        assert await ask(first, "X", "LA1AAA") == [("X", "LA1AAA", "", b"\1")]
        assert await ask(second, "X", "LA1AAA") == [("X", "LA1AAA", "", b"\0")]
        assert port.listens("LA1AAA") and not port.free("LA1AAA") and port.free("LA1AAA-7")
        assert port.attached() and ("127.0.0.1:9 LA1AAA", "attached") in port.attached()
        assert port.offer("LA1BBB", "LA1AAA") is first and port.offer("LA1BBB", "LA9X") is None
        assert await ask(first, "x", "LA1AAA") == [] and port.free("LA1AAA")
        (end,) = await ask(first, "C", "LA1AAA-0", "LA1AAA")
        assert end[:3] == ("d", "LA1AAA", "LA1AAA-0") and b"is this station itself" in end[3]
        (end,) = await ask(first, "d", "LA1AAA", "LA1BBB")
        assert end[0] == "d" and end[3].endswith(b": no session\r\0")
        for _ in range(2):
            assert await ask(first, "D", "LA1AAA", "LA1BBB", b"x") == []
        assert sum("data were dropped" in line for line in one.said) == 1
        assert await ask(first, "Y", "LA1AAA", "LA1BBB") == [("Y", "LA1AAA", "LA1BBB", bytes(4))]
        assert await ask(first, "y") == [("y", "", "", bytes(4))]
        # Frames to all.
        await ask(first, "M", "LA1AAA", "aprs", b"hi")
        via = b"\2" + b"WIDE1-1\0\0\0" + b"LA1BBB\0\0\0\0"
        await ask(first, "V", "LA1AAA", "APRS", via + b"hi")
        heard = [ax25.decode(frame) for frame in one.sent]
        assert heard == [ax25.Ui("LA1AAA", "APRS", [], 0xF0, b"hi"),
                         ax25.Ui("LA1AAA", "APRS", ["WIDE1-1", "LA1BBB"], 0xF0, b"hi")]
        await ask(first, "V", "LA1AAA", "APRS", via)
        await ask(first, "K", data=b"\0" + one.sent[0])
        assert one.sent[3] == one.sent[0] and len(one.sent) == 4
        dropped = len(one.said)
        for kind, source, data in (("V", "LA1AAA", via[:-1]), ("V", "LA1AAA", b"\x09" + bytes(99)),
                                   ("M", "LA1BBB", b"hi"), ("K", "", b"\0\1"),
                                   ("K", "", b"\0" + ax25.encode(heard[0]._replace(
                                       source="LA1BBB")))):
            await ask(first, kind, source, "APRS", data)
        assert len(one.sent) == 4 and len(one.said) == dropped + 5
        assert await ask(first, "V", "LA1AAA", "APRS", b"\x08" + bytes(80)) == []
        port.heard(one.sent[1])
        assert first.writer.taken() == b""
        await ask(first, "m")
        port.heard(one.sent[1])
        ((kind, source, to, text),) = frames_of(first.writer.taken())
        assert (kind, source, to) == ("U", "LA1AAA", "APRS") and text.endswith(b"]\rhi\r\0")
        assert b"Via WIDE1-1,LA1BBB <UI pid=F0 Len=2 >" in text
        await ask(first, "m")
        await ask(first, "k")
        port.heard(one.sent[1])
        assert frames_of(first.writer.taken()) == [("K", "LA1AAA", "APRS", b"\0" + one.sent[1])]
        port.heard(b"\1\2")
        await ask(first, "k")
        port.heard(one.sent[1])
        assert first.writer.taken() == b""

    asyncio.run(run())


@pytest.mark.parametrize("octets, good", [
    (bytes(36)[:4] + b"R" + bytes(31), True), (b"\2\0\0\0R" + bytes(31), True),
    (b"\0\1\0\0R" + bytes(31), False), (b"\0\0\0\0R\1" + bytes(30), False),
    (b"\0\0\0\0R\0\1\1" + bytes(28), False), (b"\0\0\0\0Z" + bytes(31), False),
    (b"\0\0\0\0R" + bytes(30), None), (b"\0\0\0\0R\0\0\0\xc3" + bytes(27), False),
    (b"\0\0\0\0D" + bytes(23) + struct.pack("<I", agwpe.DATA_MAX) + bytes(4), True),
    (b"\0\0\0\0D" + bytes(23) + struct.pack("<I", agwpe.DATA_MAX + 1) + bytes(4), False)])
def test_what_a_connection_to_the_agwpe_port_begins_with(octets, good):
    assert agwpe.begins(octets) is good


def test_the_kiss_port_takes_our_own_ui_frames_and_says_why_not():
    async def run():
        one = side(kinds=[kiss.KissPort])
        (port,) = one.ports
        ours = ax25.encode(ax25.Ui("LA1AAA", "APRS", [], 0xF0, b"hi"))
        reader, writer = asyncio.StreamReader(limit=4 * ax25.FRAME_MAX), Writer()
        theirs = ax25.encode(ax25.Ui("LA1BBB", "APRS", [], 0xF0, b"hi"))
        reader.feed_data(ax25.kiss(ours) + ax25.kiss(ours, b"\x0c\x12\x34") + ax25.kiss(theirs)
                         + ax25.kiss(b"\1\2") + ax25.kiss(theirs) + ax25.kiss(b"x", b"\1"))
        reader.feed_eof()
        await port._program(reader, writer)
        assert one.sent == [ours, ours] and writer.octets == b"\xc0\x0c\x12\x34\xc0"
        assert one.said == ["host: KISS port: a frame was dropped: " + why
                            for why in (f"LA1BBB {UNKNOWN}", "allowed are UI frames")]
        assert writer.closed and not port._programs
        port._said = {str(k) for k in range(kiss.SAID_MAX - 1)}
        for suffix in (1, 2):
            port._take(ax25.encode(ax25.Ui(f"LA1BBB-{suffix}", "APRS", [], 0xF0, b"")))
        assert len(one.said) == 3 and len(port._said) == kiss.SAID_MAX
        port._programs = {Writer() for _ in range(kiss.PROGRAMS_MAX)}
        await port._program(reader, last := Writer())
        assert last.closed and last not in port._programs

    asyncio.run(run())


@pytest.mark.parametrize("octets", range(ax25.FRAME_MAX - 1, ax25.FRAME_MAX + 2))
def test_ax25_frames_have_a_longest(octets):
    head = ax25.encode(ax25.Ui("LA1AAA-15", "APRS", ["WIDE1-1"] * 8, 0xF0, b""))
    found = ax25.decode(head + bytes(octets - len(head)))
    assert (found is not None) == (octets <= ax25.FRAME_MAX == 1096)
    if found:
        assert (found.source, len(found.via)) == ("LA1AAA-15", 8)
    assert ax25.decode(ax25.encode(ax25.Ui("LA1AAA", "APRS", ["WIDE1-1"] * 9, 0xF0, b""))) is None
    for bad in ("LA1AAA-16", "LA1AAAA", "L-1-1"):
        with pytest.raises(ValueError):
            ax25.encode(ax25.Ui(bad, "APRS", [], 0xF0, b""))
