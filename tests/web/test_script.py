# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages that build themselves by script, in the headless Chromium of the shore side."""
import asyncio
import shutil

import pytest

from gnuradio.hf.web import fetch, script, shore, wire
import sites

pytestmark = pytest.mark.skipif(not any(map(shutil.which, script.PROGRAMS)),
                                reason="Chromium is missing")

PAGE = """<html><body><script>
for (let n = 0; n < 100; n++) {
  const line = document.createElement("p");
  line.textContent = "Built line number " + n;
  document.body.append(line);
}
fetch("OTHER/secret").catch(() => {});
</script></body></html>"""


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


def test_the_proxy_refuses_private_addresses():
    async def run():
        proxy = script._Proxy(fetch.Policy([]))
        port = await proxy.open()
        answers = []
        for line in (b"CONNECT 127.0.0.1:443 HTTP/1.1", b"GET http://localhost:8000/ HTTP/1.1",
                     b"CONNECT localhost:8443 HTTP/1.1", b"nonsense"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(line + b"\r\n\r\n")
            answers.append(await asyncio.wait_for(reader.read(), 10))
            writer.close()
        proxy.close()
        return answers
    assert [a.partition(b"\r\n")[0] for a in asyncio.run(run())] == [
        b"", b"HTTP/1.1 403 Forbidden", b"HTTP/1.1 403 Forbidden", b""]
