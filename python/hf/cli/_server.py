# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by all commands that use a SIS server."""
from typing import Any, Callable

import click

from .. import sis


def server_option(f: Callable[..., Any]) -> Callable[..., Any]:
    """Option --server."""
    return click.option("--server", default="127.0.0.1:5066", show_default=True,
                        metavar="HOST[:PORT]", callback=_checked,
                        help="SIS server of the station to use, ours or another maker's.")(f)


def check_server(value: str) -> str:
    """The same text, if it names a server. Raises ValueError."""
    sis.parse_server(value)
    return value


def _checked(_: Any, __: Any, value: str) -> str:
    try:
        return check_server(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


class NodeType(click.ParamType):
    """A STANAG 5066 address."""

    name = "node"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        try:
            return str(sis.s5066.address(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


#: Type of options for a node or a group.
NODE = NodeType()
