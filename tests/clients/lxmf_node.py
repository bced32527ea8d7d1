# SPDX-License-Identifier: GPL-3.0-or-later
"""A node of Reticulum with LXMF, for test_reticulum.py. Run by a Python that has rns and lxmf.

    lxmf_node.py FOLDER receive          prints its address, announces itself, prints what arrives
    lxmf_node.py FOLDER send ADDRESS N   sends N messages, prints the seconds until confirmed
"""
import random
import signal
import sys
import time

import LXMF
import RNS

#: 2000 octets that compress little.
TEXT = "".join(map(chr, random.Random(1).choices(range(32, 127), k=2000)))
LIMIT_S = 60.0


def receive(router, destination):
    router.register_delivery_callback(lambda m: print("got", len(m.content), flush=True))
    print("address", destination.hash.hex(), flush=True)
    for _ in range(2):  # the first comes before the other node is connected
        router.announce(destination.hash)
        time.sleep(12)
    signal.pause()  # until the test ends it


def send(router, own, address, count):
    limit = time.monotonic() + LIMIT_S
    while RNS.Identity.recall(address) is None:
        assert time.monotonic() < limit, "no announce was heard"
        time.sleep(0.05)
    time.sleep(20)  # until the last announce is over
    far = RNS.Destination(RNS.Identity.recall(address), RNS.Destination.OUT,
                          RNS.Destination.SINGLE, "lxmf", "delivery")
    for _ in range(count):
        done = []
        message = LXMF.LXMessage(far, own, TEXT, "", desired_method=LXMF.LXMessage.DIRECT)
        message.register_delivery_callback(lambda _: done.append(time.monotonic()))
        begin = time.monotonic()
        router.handle_outbound(message)
        while not done and time.monotonic() < begin + LIMIT_S:
            time.sleep(0.02)
        print("confirmed", round(done[0] - begin, 2) if done else "never", flush=True)
        time.sleep(10)


folder, what = sys.argv[1:3]
RNS.Reticulum(folder)
mail = LXMF.LXMRouter(storagepath=f"{folder}/lxmf")
me = mail.register_delivery_identity(RNS.Identity(), display_name=what)
if what == "receive":
    receive(mail, me)
else:
    send(mail, me, bytes.fromhex(sys.argv[3]), int(sys.argv[4]))
