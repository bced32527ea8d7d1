# SPDX-License-Identifier: GPL-3.0-or-later
"""The published tables: every cell has a row, and what hf-lab tcp sends does not compress."""
import socket
import threading
import zlib

from hflab.link import papers, papers_more
from hflab.programs import tcp

#: Cells of the five papers, numbered from 1.
CELLS = 517
#: Tables that only real programs gave.
REAL = ("IP client TCP", "IP client TCP BER", "IP client TCP non-ARQ", "IP client TCP over time",
        "HF-PEP size and speed", "XMPP round trip", "XMPP payload", "XMPP typing delay",
        "XMPP throughput", "web, small page", "web, site")


def test_every_published_cell_is_there_and_has_a_source():
    cells = papers.cells()
    assert sorted(c.number for c in cells) == list(range(1, CELLS + 1))
    assert {c.table for c in cells} == set(papers.TITLES)
    numbers = {c.number for c in cells}
    for c in cells:
        what, _, more = papers.derivations().get(c.number, "measure").partition(":")
        if what == "measure":
            assert c.table in papers.MEASURES or c.table in REAL, c
        elif what == "none":
            assert len(more) > 10, c
        else:
            assert int(more) in numbers and int(more) != c.number, c


def test_cells_that_another_one_decides():
    cells = {c.number: c for c in papers.cells()}
    total = next(c for c in cells.values() if c.table == "HF-PEP size and speed"
                 and (c.bit_rate, c.octets, c.metric) == (9600, 100_000, "total time"))
    rows = papers_more.derived(list(cells.values()), [papers.Row(total, 100.0)])
    use, = (r for r in rows if r.how == f"from cell {total.number}")
    assert use.cell.metric == "utilization" and use.ours == 100 * 800_000 / 960_000
    # A row needs its deciding cell. Rows with nothing to run always exist.
    assert all(r.ours is None and not r.judged for r in rows if r is not use)


def test_the_report_names_the_reason_of_what_is_better_than_the_limit():
    cell = next(c for c in papers.cells() if c.table == "S5066 interleaver"
                and c.detail == "L" and c.metric == "utilization")
    text = papers.report([papers.Row(cell, 91.4, same=85.5)])
    assert "better than the limit: acknowledgements in the short interleaver" in text
    assert "85.5 %" in text and "1 of 1 published cells beaten or equal" in text


def test_octets_of_hf_tcp_do_not_compress():
    octets = 200_000
    data = b""
    while len(data) < octets:
        data += tcp._block(octets, 1e9, len(data))
    assert len(zlib.compress(data, 9)) >= octets


def test_hf_tcp_still_understands_itself():
    listener = socket.create_server(("127.0.0.1", 0))
    got = []
    thread = threading.Thread(
        target=lambda: got.append(tcp.serve_one(listener.accept()[0], 10)))
    thread.start()
    near = socket.create_connection(listener.getsockname())
    octets, sent = 10_007, 0
    while sent < octets:
        block = tcp._block(octets, 0.0, sent)
        near.sendall(block)
        sent += len(block)
    mark, *_ = tcp.CONFIRMATION.unpack(tcp._read(near, tcp.CONFIRMATION.size))
    near.close()
    thread.join()
    listener.close()
    assert mark == tcp.CONFIRMED and got[0].octets == octets
