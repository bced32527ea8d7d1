# SPDX-License-Identifier: GPL-3.0-or-later
"""Files with secrets, which only their owner may read."""
import os
import stat


def read(path: str, most: int) -> str:
    """At most so many octets of a file, as text. Raises OSError, and ValueError if others may
    read it."""
    with open(path, "rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & 0o077:
            raise ValueError(f"{path}: others may read it (mode {mode:03o}): allowed is 600, "
                             f"chmod 600 {path}")
        return file.read(most).decode("utf-8", "replace")
