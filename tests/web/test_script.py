# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages that build themselves by script, in the headless Chromium of the shore side."""
import asyncio
import json
import os
import shutil
import sys

import pytest

from gnuradio.hf.web import confined, fetch, script, shore, wire
import sites

PAGE = """<html><body><script>
for (let n = 0; n < 100; n++) {
  const line = document.createElement("p");
  line.textContent = "Built line number " + n;
  document.body.append(line);
}
fetch("OTHER/secret").catch(() => {});
</script></body></html>"""


@pytest.mark.skipif(os.geteuid() == 0 or not any(map(shutil.which, script.PROGRAMS)),
                    reason="Chromium is missing, or would run as root")
@pytest.mark.parametrize("permitted", [False, True])
def test_a_page_that_builds_itself_is_read_and_reaches_permitted_addresses_only(permitted):
    async def run(url, allow):
        made = shore.Shore(allow, lambda line: None)
        try:
            _, page = await made.page(wire.Request(url))
            return page
        finally:
            await made.close()
    with sites.Server({}, "127.0.0.2") as other, sites.Server({}) as server:
        server.pages["/"] = sites.html(PAGE.replace("OTHER", other.url))
        allow = ["127.0.0.1/32"] + (["127.0.0.2/32"] if permitted else [])
        page = asyncio.run(run(server.url + "/", allow))
    assert "<p>Built line number 99" in page.main
    assert ("/secret" in other.asked) == permitted


def test_the_proxy_refuses_private_addresses(tmp_path):
    path = str(tmp_path / "proxy")

    async def run():
        proxy = script._Proxy(fetch.Policy([]))
        await proxy.open(path)
        answers = []
        for line in (b"CONNECT 127.0.0.1:443 HTTP/1.1", b"GET http://localhost:8000/ HTTP/1.1",
                     b"CONNECT localhost:8443 HTTP/1.1", b"nonsense"):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(line + b"\r\n\r\n")
            answers.append(await asyncio.wait_for(reader.read(), 10))
            writer.close()
        proxy.close()
        return answers
    assert [a.partition(b"\r\n")[0] for a in asyncio.run(run())] == [
        *[b"HTTP/1.1 403 Forbidden"] * 3, b""]


#: Stands for Chromium: tries every way out, and prints what came of it as its document.
PROBE = """#!PYTHON
import json, os, socket, sys, urllib.request
proxy = next(a for a in sys.argv if a.startswith("--proxy-server=")).split("=", 1)[1]
url, found = sys.argv[-1], {"user": os.geteuid()}
def tried(name, work):
    try:
        found[name] = work()
    except OSError as error:
        found[name] = type(error).__name__ + " " + str(error)
def datagram(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", (address, 3478))
tried("loopback", lambda: socket.create_connection(("127.0.0.1", PORT), 5).close())
tried("lan", lambda: datagram("10.1.2.3"))
tried("far", lambda: datagram("93.184.216.34"))
tried("far6", lambda: datagram("2606:2800:220:1::1"))
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
tried("proxy", lambda: opener.open(url, timeout=20).read().decode())
tried("other", lambda: opener.open("http://127.0.0.2:PORT/", timeout=20).read().decode())
with open("/proc/self/status") as file:
    found["rights"] = [line.split()[1] for line in file if line.startswith("CapEff")][0]
print(json.dumps(found))
"""


def probed(tmp_path, say=print):
    """What a browser finds that tries every way out."""
    with sites.Server({"/": sites.html("<p>there")}) as server:
        port = server.url.rpartition(":")[2]
        program = tmp_path / "chromium"
        program.write_text(PROBE.replace("PYTHON", sys.executable).replace("PORT", port))
        program.chmod(0o755)

        async def run():
            browser = script.Browser(fetch.Policy(["127.0.0.1/32"]), say)
            browser._program = str(program)
            return await browser.document(server.url + "/"), browser._program
        return asyncio.run(run())


def test_a_browser_has_no_way_out_but_the_proxy(tmp_path):
    document, _ = probed(tmp_path)
    if document is None:
        pytest.skip("this system permits no namespaces")
    found = json.loads(document)
    assert found["proxy"] == "<p>there" and "403" in found["other"]
    assert "ConnectionRefusedError" in found["loopback"]
    for way in ("lan", "far", "far6"):
        assert "unreachable" in found[way], found
    assert found["user"] == os.geteuid()
    assert os.geteuid() == 0 or int(found["rights"], 16) == 0


def test_without_namespaces_there_is_no_browser(tmp_path, monkeypatch):
    lines = []
    refusing = tmp_path / "confined.py"
    refusing.write_text(f"import sys; sys.exit({confined.NOT_POSSIBLE})")
    monkeypatch.setattr(confined, "__file__", str(refusing))
    assert probed(tmp_path, lines.append) == (None, None)
    assert len(lines) == 1 and "no network namespace" in lines[0]
