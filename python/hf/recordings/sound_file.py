# SPDX-License-Identifier: GPL-3.0-or-later
"""Sound files that are no plain WAV, read by libraries: libsndfile (python3-soundfile) or ffmpeg.

libsndfile reads AU, AIFF, Wave64, CAF, FLAC, Ogg, MP3 and WAV with A-law, mu-law and ADPCM."""
import shutil
import subprocess
from typing import Any, BinaryIO, Iterator, Optional, cast

import numpy as np

#: Frames read at a time.
FRAMES = 8192


class SoundError(ValueError):
    """A file is no sound, or nothing here reads it. The text says why."""


class SoundFile:
    """A file that libsndfile reads. rate: samples/s. channels: their number."""

    def __init__(self, path: str) -> None:
        """Raises SoundError."""
        try:
            import soundfile
        except (ImportError, OSError):  # the module, or its library
            raise SoundError("python3-soundfile is not installed") from None
        try:
            self._sound: Any = soundfile.SoundFile(path)
        except (RuntimeError, TypeError) as error:
            raise SoundError(getattr(error, "error_string", str(error)).rstrip(".")) from None
        self.rate, self.channels = float(self._sound.samplerate), int(self._sound.channels)
        self.broken = ""  #: why reading has stopped before the end

    def pieces(self) -> Iterator[np.ndarray]:
        """float32 arrays of frames x channels."""
        while not self.broken:
            try:
                piece = self._sound.read(FRAMES, "float32", always_2d=True)
            except RuntimeError as error:
                self.broken = getattr(error, "error_string", str(error)).rstrip(".")
                return
            if not len(piece):
                return
            yield piece

    def share(self) -> float:
        """Share of the frames read so far, 0 to 1."""
        return float(self._sound.tell()) / max(self._sound.frames, 1)


def by_ffmpeg(path: str) -> Optional[BinaryIO]:
    """The file as WAV of floats, from ffmpeg, or None if ffmpeg is not installed."""
    program = shutil.which("ffmpeg")
    if program is None:
        return None
    process = subprocess.Popen(  # pylint: disable=consider-using-with
        [program, "-nostdin", "-v", "quiet", "-protocol_whitelist", "file,pipe",
         "-i", f"file:{path}", "-map", "0:a:0",
         "-c:a", "pcm_f32le", "-f", "wav", "-"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return cast(BinaryIO, process.stdout)
