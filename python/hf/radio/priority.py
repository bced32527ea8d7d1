# SPDX-License-Identifier: GPL-3.0-or-later
"""The priority of a program that serves a radio."""
import contextlib
import os

#: Ahead of usual programs, one step behind what PulseAudio gives itself (nice-level in
#: pulse-daemon.conf(5): -11).
NICE = -10


def go_first() -> None:
    """Let this thread, and all that it starts from now on, go ahead of usual programs: whoever
    answers late leaves a transmission with a hole, or waits longer than the other end.

    Nothing happens where the system does not allow it (root, CAP_SYS_NICE or RLIMIT_NICE are
    needed), or if the user chose a priority.
    """
    if os.getpriority(os.PRIO_PROCESS, 0) == 0:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, NICE)
