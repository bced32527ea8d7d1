# SPDX-License-Identifier: GPL-3.0-or-later
"""Sound cables and the air of the test driver are those of the room of radios."""
from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "radio"))
