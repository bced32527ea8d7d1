# SPDX-License-Identifier: GPL-3.0-or-later
# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 8. TCP over it
#
# TCP asks for an answer within seconds and takes silence for congestion. On HF a turn takes
# ten. The proxy HF-PEP ends TCP at each side and carries the octets over the data link. This
# lesson sends a page through two of them.

# %%
import socket
import threading
import time

from gnuradio import gr, hf
import matplotlib.pyplot as plt
import numpy as np

MODE, SPEED = "4539-2400S", 20  # station time runs this many times faster
PAGE = np.random.default_rng(1).bytes(20000)
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]


def serve():
    """Answers each request with the page. This is ashore."""
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(1000)
            connection.sendall(PAGE)


threading.Thread(target=serve, daemon=True).start()

# %% [markdown]
# Two stations: the ship's proxy listens on a port, the shore's one may connect to the server.

# %%
top = gr.top_block()
air = hf.emulated_air(2, seed=1, speed=SPEED)
ship = hf.pep(["127.0.0.1:0=127.0.0.1:%d" % port], ["0.0.0.0/0=1.2.0.2"])
shore = hf.pep([], ["0.0.0.0/0=1.2.0.1"], allow=["127.0.0.1:%d" % port])
for number, pep in enumerate((ship, shore)):
    modem = air.modem(number)
    link = hf.data_link(f"1.2.0.{number + 1}", mode=MODE)
    for a, b, name in ((modem, link, "modem"), (link, pep, "sis")):
        top.msg_connect(a, name, b, name)
        top.msg_connect(b, name, a, name)
top.start()

# %% [markdown]
# A program on the ship asks for the page. It speaks plain TCP, and connects at once: to its own
# proxy.

# %%
begin = time.monotonic()
got, arrivals = b"", []
with socket.create_connection(("127.0.0.1", ship.ports()[0]), timeout=50) as program:
    connected = (time.monotonic() - begin) * SPEED
    program.sendall(b"GET /")
    program.shutdown(socket.SHUT_WR)
    while piece := program.recv(65536):
        got += piece
        arrivals.append(((time.monotonic() - begin) * SPEED, len(got)))
top.stop()
top.wait()
server.close()
seconds = arrivals[-1][0]
print(f"connected after {connected:.1f} s, first octets after {arrivals[0][0]:.0f} s, "
      f"all {len(got)} after {seconds:.0f} s: {8 * len(got) / seconds:.0f} bit/s")
assert got == PAGE and arrivals[0][0] > connected

# %%
figure, axis = plt.subplots(figsize=(8, 5))
times, octets = zip(*arrivals)
axis.step(times, octets, where="post", label="through HF-PEP")
axis.plot([0, seconds], [0, seconds * 300], "--", label="2400 bit/s")
axis.set(xlabel="station time, s", ylabel="octets", ylim=(0, 1.1 * len(PAGE)),
         title=f"{len(PAGE)} octets over {MODE}")
axis.legend()
plt.show()

# %% [markdown]
# **Question.** The octets arrive in steps. What sets their height, and what would TCP without a
# proxy make of the pauses between them?
