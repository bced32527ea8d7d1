#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the flowgraphs as the Companion shows them, into docs/flowgraphs.

    build/run xvfb-run -a /usr/bin/python3 docs/site/flowgraph_pictures.py

Needs Debian's xvfb, gir1.2-gtk-3.0, python3-gi-cairo and python3-pil.
"""
import os
from pathlib import Path
import sys

import gi
from PIL import Image

gi.require_version("Gtk", "3.0")
gi.require_version("PangoCairo", "1.0")
from gi.repository import Gtk  # noqa: E402
from gnuradio import gr  # noqa: E402
from gnuradio.grc.gui import Utils  # noqa: E402
from gnuradio.grc.gui.Application import Application  # noqa: E402
from gnuradio.grc.gui.Platform import Platform  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
#: Colours of a picture. The Companion uses few, so they stay small.
COLOURS = 16


def main() -> None:
    """Draw all flowgraphs. Status 1 if one of them is not valid."""
    version = (gr.major_version(), gr.api_version(), gr.minor_version())
    platform = Platform(version=gr.version(), version_parts=version, prefs=gr.prefs(),
                        install_prefix=gr.prefix())
    platform.build_library()
    application = Application([], platform)
    application.register()
    application.do_activate()
    valid = True
    for path in sorted((ROOT / "examples").glob("*.grc")):
        application.main_window.new_page(str(path), show=True)
        flowgraph = application.main_window.current_flow_graph
        flowgraph.update()
        while Gtk.events_pending():
            Gtk.main_iteration_do(False)
        picture = ROOT / "docs" / "flowgraphs" / (path.stem + ".png")
        Utils.make_screenshot(flowgraph, str(picture))
        Image.open(picture).convert("RGB").quantize(COLOURS).save(picture, optimize=True)
        valid = valid and flowgraph.is_valid()
    sys.stdout.flush()
    os._exit(0 if valid else 1)  # the window would ask whether to save


if __name__ == "__main__":
    main()
