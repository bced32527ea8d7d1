# SPDX-License-Identifier: GPL-3.0-or-later
"""Two stations over a simulated air, each with a SIS server, for tests."""
import contextlib
import re
import subprocess

SPEED = 30


@contextlib.contextmanager
def started(folder, mode="4539-9600S", capture=False, speed=SPEED, tables=("", "")):
    """hf run with two stations or more; gives the process and their servers, each HOST:PORT.
    tables: further tables of each file."""
    files = []
    for k, more in enumerate(tables, 1):
        path = folder / f"station{k}.toml"
        text = f'address = "1.2.0.{k}"\nmode = "{mode}"\n[sis_server]\nport = 0\n'
        if capture:  # tshark knows Edition 3
            text += "[data_link]\nlarge_windows = false\n"
        path.write_text(text + more)
        files.append(str(path))
    more = ["--pcap", str(folder)] if capture else []
    process = subprocess.Popen(["hf", "run", *files, "--speed", str(speed), "--quiet", *more],
                               stderr=subprocess.PIPE, text=True)
    try:
        servers = []
        while len(servers) < len(files):
            line = process.stderr.readline()
            assert line, "hf run ended"
            servers.append("127.0.0.1:" + re.search(r"on port (\d+)", line).group(1))
        yield process, servers
        assert process.poll() is None, "hf run has ended by itself"
    finally:
        process.terminate()
        assert process.wait(20) == 0
        process.stderr.close()


@contextlib.contextmanager
def running(folder, **options):
    """As started(), but returns only the servers."""
    with started(folder, **options) as (_, servers):
        yield servers


def hf(*arguments, **options):
    """Run a command to its end."""
    return subprocess.run(["hf", *arguments], text=True, capture_output=True, timeout=120,
                          **options)


def waiting(*arguments):
    """Start a command that binds and waits; returns when it has bound."""
    process = subprocess.Popen(["hf", *arguments], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    line = process.stderr.readline()
    assert line.startswith("bound"), line
    return process
