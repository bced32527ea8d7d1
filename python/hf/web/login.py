# SPDX-License-Identifier: GPL-3.0-or-later
"""How users log in at the door: a form, a cookie, and the end of it."""
import asyncio
from typing import Optional

from aiohttp import web

from . import pages
from .users import Session, Users

#: Path of the form.
PATH = "/login"
#: Log-ins that are checked or wait for it.
MAX_CHECKED = 8
_COOKIE = "hf-door"


def form(words: str, status: int) -> web.Response:
    """The form. words: what went wrong, or empty."""
    return web.Response(status=status, text=pages.log_in(words), content_type="text/html")


class LogIn:
    """The handlers. Used from one event loop."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._one, self._checked = asyncio.Semaphore(1), 0

    def session(self, request: web.Request) -> Optional[Session]:
        """Who asks. None: nobody who has logged in."""
        return self._users.session(request.cookies.get(_COOKIE, ""))

    async def enter(self, request: web.Request) -> web.Response:
        """Take the form."""
        fields, address = await request.post(), request.remote or ""
        if self._checked >= MAX_CHECKED or not self._users.may_try(address):
            return form("Too many tries. Wait for five minutes.", 429)
        name, password = str(fields.get("name", "")), str(fields.get("password", ""))
        self._checked += 1
        try:
            async with self._one:  # each takes memory and a processor
                good = await asyncio.get_running_loop().run_in_executor(
                    None, self._users.check, name, password)
        finally:
            self._checked -= 1
        if not good:
            return form("The name or the password is wrong.", 401)
        response = web.Response(status=303, headers={"Location": "/"})
        response.set_cookie(_COOKIE, self._users.succeeded(address, name), httponly=True,
                            samesite="Strict", path="/")
        return response

    async def leave(self, request: web.Request) -> web.Response:
        """End the session."""
        self._users.log_out(request.cookies.get(_COOKIE, ""))
        raise web.HTTPSeeOther("/")
