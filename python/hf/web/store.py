# SPDX-License-Identifier: GPL-3.0-or-later
"""Stores pages with their pictures in a folder, for measurements without the internet."""
import hashlib
import os
import re
from typing import List
from urllib.parse import urlsplit

from . import elements, fetch, markup, pictures, reduce


def picture_name(url: str) -> str:
    """Name of the file with the picture of an address."""
    return hashlib.sha256(url.encode()).hexdigest()[:24]


def page_name(url: str) -> str:
    """Name of a stored page without .html, from its address."""
    parts = urlsplit(url)
    name = f"{parts.hostname or ''}{parts.path}".removeprefix("www.").strip("/")
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "page"


async def store(url: str, folder: str, allow: List[str]) -> str:
    """Fetch a page as the shore side does, and write NAME.html and the pictures NAME.files/*.
    allow: prefixes that may be fetched though they are not public. Returns NAME. Raises FetchError
    and OSError."""
    fetcher = fetch.Fetcher(allow)
    try:
        got = await fetcher.get(url if "://" in url else "https://" + url, reduce.MAX_OCTETS,
                                accept="text/html")
        if got.kind not in ("text/html", "application/xhtml+xml"):
            raise fetch.FetchError(f"{url}: {got.kind}: only pages can be stored")
        name = page_name(got.url)
        page = reduce.reduce(got.body, got.url, got.charset)
        charset = f'<meta charset="{markup.quoted(got.charset)}">' if got.charset else ""
        head = f'<base href="{markup.quoted(got.url)}">{charset}\n'
        with open(os.path.join(folder, name + ".html"), "xb") as file:
            file.write(head.encode() + got.body)
        os.makedirs(os.path.join(folder, name + ".files"), exist_ok=True)
        for picture in page.pictures:
            address = elements.absolute(got.url, picture.url)
            try:
                found = await fetcher.get(address, pictures.MAX_OCTETS, accept="image/*")
            except fetch.FetchError:
                continue
            with open(os.path.join(folder, name + ".files", picture_name(address)), "wb") as file:
                file.write(found.body)
        return name
    finally:
        await fetcher.close()
