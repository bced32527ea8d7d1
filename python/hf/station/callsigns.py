# SPDX-License-Identifier: GPL-3.0-or-later
"""Call signs, and the table that says which STANAG 5066 node each belongs to."""
import re
from typing import Dict, Optional

_CALL = re.compile(r"[A-Z0-9]{3,7}(-[A-Z0-9]{1,2})?")


def normal(text: str) -> str:
    """A call sign in capitals, without the suffix -0. Raises ValueError."""
    call = text.strip().upper()
    if not _CALL.fullmatch(call) or not re.search("[A-Z]", call):
        raise ValueError(f"call sign {text[:40]!r}: allowed are 3 to 7 letters and digits, and a "
                         "suffix such as -7")
    return call[:-2] if call.endswith("-0") else call


def node_of(table: Dict[str, str], call: str) -> Optional[str]:
    """The node of a call sign. A call sign with a suffix that the table does not have belongs to
    the node of the call sign alone. None: unknown.

    table: normal() call signs and their nodes.
    """
    return table.get(call, table.get(call.split("-")[0]))
