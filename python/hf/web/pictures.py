# SPDX-License-Identifier: GPL-3.0-or-later
"""Small copies of pictures, to send over HF."""
import io
from typing import NamedTuple, Optional
import warnings

from PIL import Image

from .elements import MIN_SIDE

#: Largest width and height of a small picture, and quality of its WebP. Photographs then take 1.3
#: to 3.1 kB (hf-lab bench web).
MAX_SIDE, QUALITY = 160, 20
#: Most octets of a picture that is fetched, and most pixels that are decoded.
MAX_OCTETS, MAX_PIXELS = 4_000_000, 16_000_000


class Small(NamedTuple):
    """A small picture as WebP, with the size at which it is shown."""

    width: int
    height: int
    data: bytes


def small(data: bytes, shown_width: int = 0) -> Optional[Small]:
    """A small copy of a picture. shown_width: on its page, 0 if not known. None: no picture, or
    one that is not worth sending."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about large and about damaged pictures
            with Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "GIF", "WEBP")) as image:
                return _small(image, shown_width or MAX_SIDE)
    except Exception:  # damaged pictures raise errors of many kinds
        return None


def _small(image: Image.Image, shown_width: int) -> Optional[Small]:
    width, height = image.size
    if min(width, height) < MIN_SIDE or width * height > MAX_PIXELS:
        return None
    image.draft("RGB", (2 * MAX_SIDE, 2 * MAX_SIDE))  # a JPEG is decoded at a part of its size
    scale = min(1.0, MAX_SIDE / width, MAX_SIDE / height, shown_width / width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    if image.mode in ("P", "LA", "PA", "RGBA") or "transparency" in image.info:
        image = image.convert("RGBA")
        image.thumbnail((2 * size[0], 2 * size[1]))
        ground = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(ground, image)
    image = image.convert("RGB").resize(size, Image.LANCZOS)
    out = io.BytesIO()
    image.save(out, "WEBP", quality=QUALITY, method=6)
    return Small(size[0], size[1], out.getvalue())
