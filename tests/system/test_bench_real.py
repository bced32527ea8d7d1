# SPDX-License-Identifier: GPL-3.0-or-later
"""The cells of hf bench papers that need kernel TCP, an XMPP library or a browser."""
import csv
import subprocess

from gnuradio.hf import netns, pair
from gnuradio.hf.lab.link import papers
from gnuradio.hf.lab.programs import kernel, real, tcp, web, xmpp
import pytest

pytestmark = pytest.mark.skipif(netns.why_not() is not None,
                                reason=f"no namespaces here: {netns.why_not()}")


def skip_without(reason):
    return pytest.mark.skipif(reason is not None, reason=str(reason))


def setting(rate, **options):
    return pair.Setting(mode=papers.MODES[rate], allow=["10.66.0.2:*"], **options)


def published(table, **wanted):
    found = [c for c in papers.cells() if c.table == table
             and all(getattr(c, k) == v for k, v in wanted.items())]
    # Some cells are printed in more than one table.
    values = {c.published for c in found}
    assert len(values) == 1, found
    return values.pop()


def test_tcp_through_the_ip_client(tmp_path):
    result = subprocess.run(
        ["hf", "bench", "papers", "--real", "--table", "IP client TCP", "--rate", "240000",
         "--quick", "--out", str(tmp_path)], text=True, capture_output=True, timeout=200)
    assert result.returncode == 0, result.stderr
    # The two are one cell printed twice, which the paper gives as 0.0 s.
    assert "22 of 24 published cells beaten" in result.stdout, result.stdout
    assert (tmp_path / "ip-client-tcp-240000-100kb.png").read_bytes()[:4] == b"\x89PNG"
    assert "ip-client-tcp-240000-100kb.png" in (tmp_path / "papers.md").read_text()
    with open(tmp_path / "real.csv", newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 9
    # A later report shows them again.
    again = subprocess.run(["hf", "bench", "papers", "--table", "IP client TCP", "--rate",
                            "240000", "--quick", "--out", str(tmp_path)], text=True,
                           capture_output=True, timeout=60)
    assert again.stdout == result.stdout


def test_tcp_through_hf_pep_on_waveforms():
    t = kernel.transfer(setting(9600, emulated=False, speed=4), 1000, greet=True)
    assert t.times is not None, t.why
    times = t.times
    assert times.octets == 1000 and t.samples[-1].octets == 1000
    assert 0 < times.connect_s < published("HF-PEP size and speed", bit_rate=9600, octets=1000,
                                           metric="connect time") / 3
    assert times.total_s < published("HF-PEP size and speed", bit_rate=9600, octets=1000,
                                     metric="total time") / 3
    assert t.octets_over_hf > 1000


def test_a_refused_connection_is_said():
    s = setting(9600, speed=8)
    s.allow = []
    t = kernel.transfer(s, 1000, limit_s=30)
    assert t.times is None and t.why


@skip_without(xmpp.why_not())
def test_xmpp():
    r = xmpp.measure(setting(9600, speed=4), 200, 3, burst=40)
    assert r.first < published("XMPP round trip", bit_rate=9600, detail="",
                               metric="first round trip")
    assert len(r.round_trips) == 3 and r.average <= 3.0
    assert 10 < r.utilisation < 100 / xmpp.COMPRESSED and r.octets_over_hf > 0


@skip_without(xmpp.why_not())
def test_stanzas_cut_anywhere():
    import socket
    near, far = socket.socketpair()
    stream = b"".join(xmpp.stanza(xmpp.DOMAINS["A"], f"<&{k}", k) for k in range(5))
    with near, far:
        near.sendall(stream)
        near.shutdown(socket.SHUT_WR)
        assert [xmpp.body(m) for m in xmpp.Reader(far)] == [f"<&{k}" for k in range(5)]


@skip_without(web.why_not())
def test_a_browser_loads_the_small_page():
    r = web.load("small", "HF-PEP", setting(240000))
    assert r.load_s is not None
    assert 1.5 < r.load_s < published("web, small page", bit_rate=240000, detail="HF-PEP")
    assert r.files == 1 and r.octets > 1000 and r.octets_over_hf > 1000
    assert r.picture[:4] == b"\x89PNG"


@skip_without(web.why_not())
def test_a_page_that_is_not_there_is_an_error():
    s = setting(240000)
    s.allow = ["10.66.0.2:9"]
    with pytest.raises(RuntimeError, match="was not loaded"):
        web.load("small", "HF-PEP", s, 10)


def test_the_store_keeps_the_last_of_each_cell(tmp_path):
    store = real.Store(str(tmp_path / "real.csv"))
    cell = next(c for c in papers.cells() if c.table == "web, site")
    for value in (5.0, None, 7.0):
        store.add(cell, real.Outcome(value, "so"))
    (kept, row), = store.rows()
    assert kept == cell and row.ours == 7.0 and row.how.startswith("so; 20")


def test_thinning_keeps_the_last_sample():
    samples = [tcp.Sample(k, k, 0) for k in range(10_001)]
    fewer = tcp.thinned(samples)
    assert len(fewer) <= 2001 and fewer[-1] == samples[-1]
