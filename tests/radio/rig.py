# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig that speaks rigctld's protocol, with faults to inject."""
import contextlib
import socket
import subprocess
import threading
import time

from gnuradio.hf.radio import rig as radio_rig


class Rig:
    """Listens as rigctld does and notes when the key went down and up, by time.monotonic()."""

    def __init__(self, delay_s=0.0):
        self.keyed = False
        self.history = []       # (time, keyed)
        self.delay_s = delay_s
        self.hangs = False      # takes commands and says nothing
        self.refuses = False    # RPRT -9
        self.frequency, self.mode = 7100000, ("PKTUSB", 3000)
        self.step_hz = 1        # of the dial
        self.drops_next = 0     # number of new connections that end at once
        self.set_while_keyed = 0
        self.end = "\n"         # of a line
        self.widths = []        # of its filters
        self.half = ""          # what it answers to this command, and nothing more
        self.splits = False     # sends an answer in two parts
        self.abilities = ""     # answer to \\dump_state
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def downs(self):
        """How often the key went down."""
        return sum(keyed for _, keyed in self.history)

    def drop(self):
        """All connections are lost."""
        for c in self._connections:
            with contextlib.suppress(OSError):
                c.shutdown(socket.SHUT_RDWR)

    def close(self):
        """The program has ended."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # closing alone lets accept() wait on
        self._socket.close()
        self.drop()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                if self.drops_next:
                    self.drops_next -= 1
                    connection.close()
                    continue
                self._connections.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError), connection, connection.makefile() as lines, \
                connection.makefile("w", newline=self.end) as file:
            for line in lines:
                if self.hangs:
                    continue
                time.sleep(self.delay_s)
                if line.startswith("T "):
                    if not self.refuses:
                        self._key(line.split()[1] != "0")
                    file.write("RPRT -9\n" if self.refuses else "RPRT 0\n")
                elif line.startswith("t"):
                    file.write(f"{int(self.keyed)}\n")
                elif line.startswith("f"):
                    file.write(f"{self.frequency}\n")
                elif line.startswith("m"):
                    file.write(self.half or f"{self.mode[0]}\n{self.mode[1]}\n")
                elif line.startswith("\\dump_state") and self.abilities:
                    file.write(self.abilities)
                elif line[0] in "FM":
                    self.set_while_keyed += self.keyed
                    words = line.split()
                    if words[0] == "F":
                        self.frequency = int(words[1]) // self.step_hz * self.step_hz
                    else:
                        width = min(self.widths, key=lambda hz: abs(hz - int(words[2]))) \
                            if self.widths else int(words[2])
                        self.mode = words[1], width or 2400
                    if self.splits:
                        file.write("RPRT")
                        file.flush()
                        time.sleep(0.1)
                        file.write(" 0\n")
                    else:
                        file.write("RPRT 0\n")
                else:
                    file.write("RPRT -4\n")
                file.flush()

    def _key(self, down):
        if down != self.keyed:
            self.history.append((time.monotonic(), down))
        self.keyed = down


@contextlib.contextmanager
def dummy_rig(*options):
    """Hamlib's own rigctld with its dummy rig; its port."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    process = subprocess.Popen(["rigctld", "-m", "1", "-P", "RIG", "-T", "127.0.0.1", "-t",
                                str(port), *options], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 20
        while True:
            with contextlib.suppress(radio_rig.RigError):
                radio_rig.Rig("127.0.0.1", port).read()
                break
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(10)
