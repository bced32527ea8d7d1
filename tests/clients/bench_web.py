#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost of the page of running stations: build/run python3 tests/clients/bench_web.py

First paint of the page in Chromium, and the processor time of hf run, two stations in real time
that ping each other: without a page and with three browsers that look at one, in turn. The page's
own share is that of the threads which only it has; the difference of the whole programs stands
beside it, with what differs from run to run. Needs chromium, chromium-driver and
python3-selenium. SECONDS, RUNS: of each measurement of processor time, and how many."""
from collections import Counter
from contextlib import ExitStack, contextmanager
import json
import os
from pathlib import Path
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, Iterator, List
import urllib.request

sys.path.insert(0, str(Path(__file__).parent))
from stations import started  # noqa: E402
from test_web import page  # noqa: E402

BROWSERS, LOADS = 3, 5
SECONDS = float(os.environ.get("SECONDS", "60"))
RUNS = int(os.environ.get("RUNS", "3"))
TARGET_PAINT_S, TARGET_SHARE = 1.0, 5.0
#: Histories are filled before the page is measured: speed as a multiple of real time, and
#: duration.
FILL_SPEED, FILL_S = 30, 40


def used_s(pid: int) -> "Counter[str]":
    """User and system time of a process by names of threads, without the numbers of blocks."""
    found: "Counter[str]" = Counter()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            head, tail = (thread / "stat").read_text().rsplit(")", 1)
        except (FileNotFoundError, ProcessLookupError):
            continue
        name = head.split("(", 1)[1].rstrip("0123456789")
        if int(thread.name) == pid:
            name = "main"
        fields = tail.split()
        found[name] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


def shares(pid: int) -> Dict[str, float]:
    """Load of one core in %, over SECONDS, by names of threads."""
    begin, before = time.monotonic(), used_s(pid)
    time.sleep(SECONDS)
    after, took = used_s(pid), time.monotonic() - begin
    return {name: 100 * (after[name] - before[name]) / took for name in after}


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


@contextmanager
def pings(near: str, far: str) -> Iterator[None]:
    """One station asks the other all the time, which answers."""
    quiet: Dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    programs = [
        subprocess.Popen(["hf", "console", "respond", "--server", far], **quiet),
        subprocess.Popen(["hf", "console", "ping", "--to", "1.2.0.2", "--server", near, "--count",
                          "100000", "--clock-speed", str(FILL_SPEED)], **quiet)]
    try:
        yield
        if any(program.poll() is not None for program in programs):
            raise SystemExit("the pings ended before the measurement did")
    finally:
        for program in programs:
            program.kill()
            program.wait()


def without_page(folder: Path) -> Dict[str, float]:
    """Shares of two stations that nobody looks at."""
    with started(folder, mode="4539-3200S", speed=1) as (process, servers), pings(*servers):
        time.sleep(FILL_S / 4)
        return shares(process.pid)


def with_page(folder: Path, paints: List[float]) -> Dict[str, float]:
    """Shares of the same stations while three browsers show them; adds times to first paint."""
    with ExitStack() as stack:
        url, token, servers, pid = stack.enter_context(page(folder, "--control",
                                                            speed=FILL_SPEED))
        stack.enter_context(pings(*servers))
        time.sleep(FILL_S)
        order = {"station": "1.2.0.1", "action": "speed", "value": 1}
        urllib.request.urlopen(urllib.request.Request(
            url + "api/control", json.dumps(order).encode(), {"X-HF-Token": token})).close()
        with urllib.request.urlopen(url + "api/state") as answer:
            print(f"state of {len(answer.read()) / 1000:.0f} kB")
        browsers = []
        for _ in range(BROWSERS):
            browsers.append(chrome())
            stack.callback(browsers[-1].quit)
        paints += [first_paint_s(browsers[0], url) for _ in range(LOADS)]
        for browser in browsers[1:]:
            browser.get(url)
        time.sleep(3)
        return shares(pid)


def own(watched: Dict[str, float], alone: Dict[str, float]) -> float:
    """Of the threads that are there only with a page, and of what others of the same name have
    more: those of the server are called as the program is."""
    return sum(share - (alone.get(name, 0) if name == "hf" else 0)
               for name, share in watched.items() if name not in alone or name == "hf")


def main() -> None:
    """Print all of it, each beside its target."""
    paints: List[float] = []
    wholes: List[float] = []
    alones: List[float] = []
    owns: List[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(RUNS):
            alone, watched = without_page(Path(folder)), with_page(Path(folder), paints)
            alones.append(sum(alone.values()))
            wholes.append(sum(watched.values()))
            owns.append(own(watched, alone))
            print(f"hf run, % of a core: without a page {alones[-1]:.1f}, with {BROWSERS} "
                  f"browsers {wholes[-1]:.1f}, threads of the page {owns[-1]:.1f}; load average "
                  f"{os.getloadavg()[0]:.1f}", flush=True)
            largest = sorted(watched.items(), key=lambda item: -item[1])[:12]
            print("  " + ", ".join(f"{name} {share:.1f}" for name, share in largest))
    print(f"first paint, {len(paints)} times: first {paints[0]:.2f} s, median "
          f"{statistics.median(paints):.2f} s, longest {max(paints):.2f} s "
          f"(target {TARGET_PAINT_S:g} s)")
    differences = [whole - alone for whole, alone in zip(wholes, alones)]
    print(f"the page with {BROWSERS} browsers: its own threads {statistics.mean(owns):.1f} % of a "
          f"core ({min(owns):.1f} to {max(owns):.1f}; target {TARGET_SHARE:g} %), the difference "
          f"of the programs {statistics.mean(differences):+.1f} % ({min(differences):+.1f} to "
          f"{max(differences):+.1f})")


if __name__ == "__main__":
    main()
