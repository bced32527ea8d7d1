# SPDX-License-Identifier: GPL-3.0-or-later
"""Text of other stations, mail servers and files as it may be printed on a terminal."""
import re
from typing import Any

#: C0, DEL and C1 controls, marks of writing direction, separators of lines, and lone surrogates:
#: with them a far station could rewrite the screen, forge lines of a log or hide text.
_CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
                       "\ud800-\udfff]")


def plain(text: str, keep: str = "") -> str:
    """A text with a question mark for each control character. keep: characters that stay."""
    return _CONTROLS.sub(lambda found: found[0] if found[0] in keep else "?", text)


def plain_within(value: Any) -> Any:
    """The same for all texts in a value of JSON."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [plain_within(v) for v in value]
    if isinstance(value, dict):
        return {plain(k): plain_within(v) for k, v in value.items()}
    return value
