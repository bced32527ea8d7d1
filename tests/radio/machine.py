# SPDX-License-Identifier: GPL-3.0-or-later
"""How long this machine takes to pass something on, measured during a test in real time."""
import contextlib
import subprocess
import sys
import threading

#: From a device to the answer: its block, the conversion, the modem, the answerer, the modem.
HANDS = 5
PERIOD_S = 0.01

_PROGRAM = f'''
import os, sys, threading, time
pipes = [os.pipe() for _ in range({HANDS} + 1)]
def hand_on(k):
    while os.read(pipes[k][0], 1):
        os.write(pipes[k + 1][1], b"x")
for k in range({HANDS}):
    if os.fork() == 0:
        for j, (r, w) in enumerate(pipes):
            if j != k: os.close(r)
            if j != k + 1: os.close(w)
        hand_on(k)
        os._exit(0)
for j, (r, w) in enumerate(pipes):
    if j != {HANDS}: os.close(r)
    if j != 0: os.close(w)
def end():
    sys.stdin.read()
    os.close(pipes[0][1])
    os._exit(0)
threading.Thread(target=end, daemon=True).start()
due = time.monotonic()
while True:
    due += {PERIOD_S}
    time.sleep(max(0, due - time.monotonic()))
    os.write(pipes[0][1], b"x")
    os.read(pipes[{HANDS}][0], 1)
    now = time.monotonic()
    print(f"{{due:.6f}} {{now - due:.6f}}", flush=True)
    due = max(due, now - {PERIOD_S})
'''


class Delays:
    """Pairs of a time (time.monotonic()) and how much later what was due then had passed as many
    processes as a sample passes threads, s."""

    def __init__(self):
        self.found = []

    def longest(self, begin, end):
        """Largest delay of anything due or under way between two times, s. None: nothing was
        measured."""
        there = [delay for due, delay in self.found if begin <= due + delay and due <= end]
        return max(there) if there else None


@contextlib.contextmanager
def delays():
    """Measures in processes of their own, so that the test's threads have no part in it; found
    when it is over."""
    process = subprocess.Popen([sys.executable, "-c", _PROGRAM], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    measured = Delays()
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout))
    reader.start()
    try:
        yield measured
    finally:
        process.stdin.close()
        process.wait(30)
        reader.join(30)
        measured.found = [tuple(map(float, line.split())) for line in lines
                          if line.count(" ") == 1 and line.endswith("\n")]
