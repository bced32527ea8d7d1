# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of a running station: annotated SigMF baseband, with a limit on disk space."""
from collections import deque
import datetime
import json
import os
import re
import threading
from typing import Any, Callable, Deque, Dict, Optional, Sequence

from gnuradio import gr
import numpy as np
import pmt

from ..recordings import sigmf
from ..system import output

#: Limit of annotations in one file. A station receives far fewer in that time.
MAX_ANNOTATIONS = 10000
#: Period of rewriting the metadata, s, so that a killed program leaves a readable recording.
_DESCRIBE_S = 10.0
#: Losses closer together than this are one, s. A lost device is reported in pieces.
_ONE_LOSS_S = 0.1


class Recorder(gr.sync_block):
    """Records a stream of complex baseband in files of equal length, NAME-TIME.sigmf-data and
    -meta. Deletes the oldest files of that name when their total would exceed the limit.

    Receptions, transmissions (port status of hf.modem) and lost samples (tag erased) become
    annotations. When the disk is full, the recording ends with a line for the operator, and the
    station continues.
    """

    def __init__(self, folder: str, name: str, sample_rate: float, max_octets: int,
                 file_s: float, description: str, say: Callable[[str], None]) -> None:
        """Raises output.OutputError if the folder cannot be made."""
        gr.sync_block.__init__(self, "hf_recorder", [np.complex64], None)
        output.make_folder(folder)
        self.folder, self.name, self.rate = folder, name, sample_rate
        self._most, self._file_samples = max_octets, int(file_s * sample_rate)
        self._description, self._say = description, say
        self._lock = threading.Lock()
        self._file: Optional[Any] = None
        self._base, self._begin, self._count, self._described = "", 0, 0, 0
        self._time = ""
        self._annotations: Deque[Dict[str, Any]] = deque(maxlen=MAX_ANNOTATIONS)
        self._open: Dict[str, Dict[str, Any]] = {}
        self._lost: Dict[str, Any] = {}  # annotation of the last loss
        self.failed = ""  #: why it ended early
        self.message_port_register_in(pmt.intern("status"))
        self.set_msg_handler(pmt.intern("status"), self._on_status)

    def work(self, input_items: Sequence[np.ndarray], output_items: Sequence[np.ndarray]) -> int:
        """See gr.sync_block."""
        x = input_items[0]
        if not self.failed:
            self._note_lost(self.get_tags_in_window(0, 0, len(x), pmt.intern("erased")))
            try:
                self._write(x)
            except OSError as error:
                self.failed = f"recording to {self.folder} ended: {error.strerror}"
                self._file = None
                self._say(self.failed)
        return len(x)

    def stop(self) -> bool:
        """See gr.block."""
        if self._file is not None:
            try:
                self._close()
            except OSError as error:
                self._say(f"{self._base}: {error.strerror}")
        return True

    def _note_lost(self, tags: Sequence[Any]) -> None:
        """Annotate samples that the radio has lost. The stream has zeros for them."""
        for tag in tags:
            if not pmt.is_uint64(tag.value):
                continue
            end = tag.offset + pmt.to_uint64(tag.value)
            with self._lock:
                if self._lost and tag.offset - self._lost["end"] <= _ONE_LOSS_S * self.rate:
                    self._lost["end"] = end
                else:
                    self._lost = {
                        "core:sample_start": tag.offset, "end": end, "core:label": "lost",
                        "core:comment": "zeros for samples that the radio has lost"}
                    self._annotations.append(self._lost)

    def _write(self, x: np.ndarray) -> None:
        while len(x):
            if self._file is None:
                self._new_file()
            room = self._begin + self._file_samples - self._count
            part = x[:room]
            assert self._file is not None
            self._file.write(part.astype("<c8").tobytes())
            self._count += len(part)
            x = x[len(part):]
            if self._count - self._described >= _DESCRIBE_S * self.rate:
                self._file.flush()
                self._describe()
            if self._count - self._begin >= self._file_samples:
                self._close()

    def _new_file(self) -> None:
        now = datetime.datetime.now(datetime.timezone.utc)
        self._time = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        stem = f"{self.name}-{now.strftime('%Y%m%dT%H%M%S%f')[:-3]}Z"
        self._base = os.path.join(self.folder, stem)
        self._make_room(self._file_samples * 8)
        self._file = open(self._base + ".sigmf-data", "xb")
        self._begin = self._described = self._count
        self._describe()  # a disk that fills up must not leave data without a description

    def _close(self) -> None:
        assert self._file is not None
        self._file.close()
        self._describe()
        self._file = None
        with self._lock:  # unfinished annotations belong to the next file as well
            rest = [a for a in self._annotations if a["end"] is None or a["end"] > self._count
                    or a is self._lost]
            self._annotations.clear()
            self._annotations.extend(rest)

    def _describe(self) -> None:
        self._described = self._count
        with self._lock:
            found = [self._placed(a) for a in self._annotations]
        meta = sigmf.sigmf_meta(self.rate, self._description,
                                [a for a in found if a["core:sample_count"] > 0])
        meta["captures"][0]["core:datetime"] = self._time
        with output.replacing_text(self._base + ".sigmf-meta") as file:
            json.dump(meta, file, indent=1)

    def _placed(self, annotation: Dict[str, Any]) -> Dict[str, Any]:
        """The annotation with sample counts relative to the start of the file."""
        a = dict(annotation)
        end = a.pop("end")
        first = max(a["core:sample_start"], self._begin)
        last = min(self._count if end is None else end, self._count)
        a["core:sample_start"] = first - self._begin
        a["core:sample_count"] = last - first
        return a

    def _make_room(self, octets: int) -> None:
        """Delete the oldest recordings of this name until this many octets fit."""
        pattern = re.compile(re.escape(self.name) + r"-\d{8}T\d{9}Z\.sigmf-data")
        mine = sorted(f for f in os.listdir(self.folder) if pattern.fullmatch(f))
        sizes = {f: os.path.getsize(os.path.join(self.folder, f)) for f in mine}
        while mine and sum(sizes[f] for f in mine) + octets > self._most:
            oldest = os.path.join(self.folder, mine.pop(0))
            os.unlink(oldest)
            meta = sigmf.sigmf_base(oldest) + ".sigmf-meta"
            if os.path.exists(meta):
                os.unlink(meta)

    def _on_status(self, message: Any) -> None:
        meta = pmt.to_python(pmt.car(message)) if pmt.is_pair(message) else None
        if not isinstance(meta, dict):
            return
        at = int(float(meta.get("now", 0)) * 1e-9 * self.rate)
        kind, _, what = str(meta.get("type", "")).partition("_")
        with self._lock:
            if what == "start":
                self._open[kind] = {"core:sample_start": at, "end": None,
                                    "core:label": str(meta.get("mode", "")),
                                    "core:comment": "received" if kind == "rx" else "transmitted"}
                self._annotations.append(self._open[kind])
            elif what == "end" and kind in self._open:
                self._open.pop(kind)["end"] = at
            elif kind in ("rx", "channel") and "rx" in self._open:
                for key in ("snr_db", "freq_offset_hz", "doppler_hz", "delay_spread_ms"):
                    value = meta.get(key)
                    if value is not None and np.isfinite(value):
                        self._open["rx"][f"hf:{key}"] = round(float(value), 3)
