# SPDX-License-Identifier: GPL-3.0-or-later
"""Priority of a program that serves a radio."""
import contextlib
import os

#: Nice value: above usual programs, one below PulseAudio (nice-level in pulse-daemon.conf(5):
#: -11).
NICE = -10


def go_first() -> None:
    """Raise the priority of this thread and of all threads that it starts later. Late samples
    leave a hole in a transmission, or delay an answer beyond the other end's timeout.

    Does nothing if the user chose a priority, or without the right to raise it (root,
    CAP_SYS_NICE or RLIMIT_NICE).
    """
    if os.getpriority(os.PRIO_PROCESS, 0) == 0:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, NICE)
