# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way to write an address of this machine, as a page, a redirect and a picture."""
import asyncio
import itertools

import pytest

from gnuradio.hf.web import fetch
import sites

#: Digits of other scripts and the dots of other keyboards, which names are written in as well.
_DIGITS = [range(0x30, 0x3a), range(0xff10, 0xff1a), range(0x1d7ce, 0x1d7d8),
           range(0x1d7e2, 0x1d7ec), range(0x1d7f6, 0x1d800), range(0x660, 0x66a)]
_CIRCLED = "\u24ea" + "".join(map(chr, range(0x2460, 0x2469)))
_DOTS = ".\u3002\uff0e\uff61"


def _written(text, digits, dot="."):
    """Text with other digits and dots."""
    return "".join(dot if c == "." else digits[int(c)] for c in text)


def _spellings():
    """Spellings of 127.0.0.1, ::1 and 0.0.0.0, which the system takes for this machine."""
    octets = [["127", "0177", "0x7f", "0x7F", "00177"], ["0", "00", "0x0"], ["0", "000"],
              ["1", "01", "0x1", "0001"]]
    found = [".".join(four) for four in itertools.product(*octets)]
    found += ["127.1", "127.0.1", "0x7f.1", "0177.1", "2130706433", "0x7f000001", "017700000001",
              "0", "0.0", "0.0.0", "0.0.0.0", "00", "0x0", "127.0.0.1.", "127.1.", "127.65535",
              "127.0.256", "127.254.254.254", "localhost", "LOCALHOST", "localhost.",
              "%31%32%37.0.0.1", "user:word@127.0.0.1", "10.1.2.3@127.0.0.1", "127.0.0.1%2e"]
    found += ["[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::ffff:127.0.0.1]",
              "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
              "[::1%25lo]", "[0::1]", "[::0.0.0.1]", "[::FFFF:127.0.0.1]"]
    scripts = [[chr(code) for code in codes] for codes in _DIGITS] + [list(_CIRCLED)]
    for text in ("127.0.0.1", "127.1", "0", "127.0.0.01", "2130706433"):
        for digits, dot in itertools.product(scripts, _DOTS):
            found.append(_written(text, digits, dot))
    return sorted(set(found))


SPELLINGS = _spellings()


def outcomes(urls, allow=()):
    """What a fetcher makes of each address: what it got, or why it did not."""
    async def run():
        fetcher = fetch.Fetcher(list(allow))
        found = []
        try:
            for url in urls:
                try:
                    found.append(await fetcher.get(url, 1000))
                except fetch.FetchError as error:
                    found.append(str(error))
        finally:
            await fetcher.close()
        return found
    return asyncio.run(run())


def test_no_spelling_reaches_this_machine():
    assert len(SPELLINGS) >= 200
    with sites.Server(sites.usual(), "0.0.0.0") as server:
        port = server.url.rpartition(":")[2]
        got = outcomes([f"http://{spelling}:{port}/" for spelling in SPELLINGS])
    wrong = [spelling for spelling, found in zip(SPELLINGS, got) if not isinstance(found, str)]
    assert not wrong and not server.asked
    refused = sum("not a public address" in found for found in got)
    assert refused > 150, got  # the others are no names


def test_a_permitted_address_is_reached_however_it_is_written():
    """The counterpart: the test above would see a connection."""
    with sites.Server(sites.usual()) as server:
        port = server.url.rpartition(":")[2]
        got = outcomes([f"http://{spelling}:{port}/" for spelling in
                        ("127.0.0.1", "127.1", "2130706433", "localhost", "0177.0.0.01")],
                       ["127.0.0.1/32"])
    assert [found if isinstance(found, str) else found.status for found in got] == [200] * 5


@pytest.mark.parametrize("to", ["http://127.1:PORT/secret", "http://2130706433:PORT/secret",
                                "//127.0.0.01:PORT/secret",
                                "http://\uff11\uff12\uff17.0.0.1:PORT/secret"])
def test_no_redirect_reaches_this_machine(to):
    with sites.Server({}) as inner, sites.Server({}, "127.0.0.2") as server:
        target = to.replace("PORT", inner.url.rpartition(":")[2])
        server.pages["/"] = (302, {"Location": target.encode().decode("latin-1")}, b"")
        found, = outcomes([server.url + "/"], ["127.0.0.2/32"])
    assert isinstance(found, str) and not inner.asked
