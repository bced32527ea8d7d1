#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page of running stations costs: build/run python3 tests/clients/bench_web.py

First paint of the page in Chromium, and the processor time of hf run, two stations in real time,
without a browser and with three. Needs chromium, chromium-driver and python3-selenium."""
from contextlib import ExitStack
import os
from pathlib import Path
import statistics
import sys
import tempfile
import time
from typing import Any, List

sys.path.insert(0, str(Path(__file__).parent))
from test_web import page  # noqa: E402

BROWSERS, LOADS = 3, 5
#: Of each measurement of processor time.
SECONDS = float(os.environ.get("SECONDS", "60"))


def cpu_s(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def share(pid: int) -> float:
    """Of one core, in %, over SECONDS."""
    begin, used = time.monotonic(), cpu_s(pid)
    time.sleep(SECONDS)
    return 100 * (cpu_s(pid) - used) / (time.monotonic() - begin)


def chrome() -> Any:
    """A browser without a window."""
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--no-proxy-server"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options,
                            service=webdriver.chrome.service.Service("/usr/bin/chromedriver"))


def first_paint_s(browser: Any, url: str) -> float:
    """From the navigation to the first pixel of content."""
    browser.get("about:blank")
    browser.get(url)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = browser.execute_script(
            "return performance.getEntriesByName('first-contentful-paint').map(e => e.startTime)")
        if found:
            return float(found[0]) / 1000
        time.sleep(0.1)
    raise SystemExit("the page was not painted")


def main() -> None:
    """Print both."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, _, _, pid = stack.enter_context(page(folder, speed=1))
        alone = share(pid)
        browsers: List[Any] = []
        for _ in range(BROWSERS):
            browsers.append(chrome())
            stack.callback(browsers[-1].quit)
        paints = [first_paint_s(browsers[0], url) for _ in range(LOADS)]
        for browser in browsers[1:]:
            browser.get(url)
        time.sleep(3)
        watched = share(pid)
    print(f"first paint: {', '.join(f'{p:.2f}' for p in paints)} s, median "
          f"{statistics.median(paints):.2f} s")
    print(f"hf run, two idle stations in real time: {alone:.1f} % of a core, with {BROWSERS} "
          f"browsers {watched:.1f} %: the page costs {watched - alone:.1f} %")
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
