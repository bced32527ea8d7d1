# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of an operator at the page: chat (HFCHAT) and files (BFTP), over the station's own SIS
server. The desk of a mail gateway joins them while it runs."""
from collections import deque
import os
import queue
import threading
import time
from typing import Any, Callable, Deque, Dict, List, Optional

from .. import sis
from ..sis import files, orderwire
from ..sis import s5066
from ..station import names

#: Longest text of a chat message, octets of UTF-8, and longest name of a file, characters.
MAX_TEXT, MAX_NAME = 1000, 100
#: Largest file, octets. At 2400 bit/s it takes an hour.
MAX_FILE = 1_000_000
#: Entries kept, chat messages and files that wait.
MAX_ENTRIES, MAX_CHATS, MAX_FILES = 100, 20, 4
#: Time after which a message that did not arrive is given up, s.
PATIENCE_S = 900.0


class Conversation:
    """The last MAX_ENTRIES messages, for the page. Any thread may use it."""

    def __init__(self, name_of: Callable[[str], str] = str) -> None:
        """name_of: what a person calls the station at an address."""
        self._lock, self._name_of = threading.Lock(), name_of
        self._entries: Deque[Dict[str, Any]] = deque(maxlen=MAX_ENTRIES)

    def add(self, kind: str, way: str, peer: str, text: str, state: str = "",
            octets: int = 0) -> Dict[str, Any]:
        """Add an entry. kind: chat or file. way: in or out. state: waiting, asking (whether the
        peer reads more than ASCII), sending, delivered, received, sent (without acknowledgement),
        or why it failed. Returns it."""
        entry = {"kind": kind, "way": way, "peer": peer, "name": self._name_of(peer),
                 "text": text, "state": state, "octets": octets, "at": round(time.time())}
        with self._lock:
            self._entries.append(entry)
        return entry

    def set(self, entry: Dict[str, Any], state: str) -> None:
        """Change the state of an entry."""
        with self._lock:
            entry["state"] = state

    def take(self) -> List[Dict[str, Any]]:
        """The entries, the oldest first."""
        with self._lock:
            return [dict(e) for e in self._entries]


class Messages:
    """Chat and files of one station. Binds its SAPs only from open() to close(), so that hf chat
    and hf receive can have them otherwise."""

    def __init__(self, server: str, inbox: Optional[str] = None,
                 known: Optional[names.Names] = None) -> None:
        """server: HOST:PORT of the station's SIS server, empty if it has none. inbox: folder for
        received files. Without it files are only sent. known: names of stations."""
        self.server, self.inbox = server, inbox
        self.names = known or names.Names()
        self.conversation = Conversation(self.names.of)
        self.failure = "" if server else "this station has no [sis_server] in its file"
        self._chats: "queue.Queue[Dict[str, Any]]" = queue.Queue(MAX_CHATS)
        self._files: "queue.Queue[Any]" = queue.Queue(MAX_FILES)
        self._stop = threading.Event()
        self._threads: List[threading.Thread] = []
        self._lock = threading.Lock()
        self.sending = ""  #: name of the file that is being sent
        self.unsubmitted = 0.0  #: octets of it that the station has not taken yet
        self.mail: Any = None  #: desk of the mail gateway (mail.Desk), while it runs

    def _node(self, to: Any) -> str:
        """The address of a station that a person has named."""
        to = str(to)[:64].strip()
        try:
            return str(s5066.address(self.names.address(to)))
        except ValueError as error:
            raise ValueError(f"station {to!r}: {error}") from None

    @property
    def is_open(self) -> bool:
        """Whether messages can be sent and received."""
        return any(t.is_alive() for t in self._threads) and not self._stop.is_set()

    def open(self) -> None:
        """Bind the SAPs. Raises ValueError with the reason if that is impossible."""
        with self._lock:
            if self.is_open:
                return
            self._join()
            if not self.server:
                raise ValueError(self.failure)
            clients: List[sis.Client] = []
            try:
                clients.append(_bound(self.server, orderwire.SAP,
                                      sis.service("arq", "node", "in_order")))
                if self.inbox is not None:
                    clients.append(_bound(self.server, s5066.SAP_RCOP, sis.service("arq")))
                    clients += _free(self.server, s5066.SAP_UDOP, sis.service("non_arq"))
            except sis.SisError as error:
                for client in clients:
                    client.close()
                raise ValueError(f"messages: {error}; is hf chat or hf receive running?"
                                 ) from None
            self.failure = ""
            self._stop.clear()
            room = files.Room()
            receivers = [files.Receiver(
                client, str(self.inbox), room, lambda source, octets, why: self.conversation.add(
                    "file", "in", source, "", f"not written: {why}", octets) and None)
                for client in clients[1:]]
            self._threads = [
                threading.Thread(target=self._guarded, args=(self._run_chat, clients[0]),
                                 daemon=True, name="page chat"),
                threading.Thread(target=self._guarded, args=(self._run_files, receivers),
                                 daemon=True, name="page files")]
            for thread in self._threads:
                thread.start()

    def close(self) -> None:
        """Release the SAPs. A file that is being sent is given up."""
        with self._lock:
            self._join()

    def _join(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(10)
        self._threads = []

    def say(self, to: Any, text: Any) -> None:
        """Send a chat message. Raises ValueError that names what is allowed."""
        if not isinstance(text, str) or not 1 <= len(text.strip().encode()) <= MAX_TEXT:
            raise ValueError(f"message: allowed are 1 to {MAX_TEXT} octets of text")
        entry = {"peer": self._node(to), "text": " ".join(text.split())}
        self._put(self._chats, entry, "chat messages")

    def send_file(self, to: Any, name: Any, data: Any) -> None:
        """Send a file. Raises ValueError that names what is allowed."""
        if not isinstance(name, str) or not 1 <= len(os.path.basename(name)) <= MAX_NAME:
            raise ValueError(f"name of the file: allowed are 1 to {MAX_NAME} characters")
        if not isinstance(data, bytes) or not 1 <= len(data) <= MAX_FILE:
            raise ValueError(f"file: allowed are 1 to {MAX_FILE} octets")
        entry = {"peer": self._node(to), "text": os.path.basename(name), "data": data}
        self._put(self._files, entry, "files")

    def _put(self, waiting: "queue.Queue[Any]", entry: Dict[str, Any], what: str) -> None:
        if not self.is_open:
            raise ValueError("messages are closed: open them first")
        data = entry.pop("data", None)
        if waiting.full():
            raise ValueError(f"{waiting.maxsize} {what} are waiting already")
        shown = self.conversation.add("chat" if data is None else "file", "out", entry["peer"],
                                      entry["text"], "waiting", len(data or b""))
        try:
            waiting.put_nowait(shown if data is None else (shown, data))
        except queue.Full:
            self.conversation.set(shown, f"not sent: {waiting.maxsize} {what} are waiting already")

    def take(self) -> Dict[str, Any]:
        """For JSON: open, failure, inbox (whether files are received), list (the entries) and mail
        (mail.Desk.take(), None without a gateway)."""
        desk = self.mail
        return {"open": self.is_open, "failure": self.failure, "inbox": self.inbox is not None,
                "list": self.conversation.take(), "mail": desk and desk.take()}

    def send_mail(self, value: Any) -> None:
        """Send a mail: sender, to, subject and text. Raises ValueError that names what is
        allowed."""
        desk = self.mail
        if desk is None:
            raise ValueError("this station has no [mail] in its file")
        desk.send(value["sender"], value["to"], value["subject"], value["text"])

    def _guarded(self, run: Callable[[Any], None], what: Any) -> None:
        """Run a thread until close(). The end of the SIS connection ends both threads."""
        try:
            run(what)
        except (sis.SisError, OSError) as error:
            if not self._stop.is_set():
                self.failure = str(error)
        finally:
            self._stop.set()
            self._give_up_waiting()

    def _give_up_waiting(self) -> None:
        for waiting in (self._chats, self._files):
            while not waiting.empty():
                entry = waiting.get()
                self.conversation.set(entry if isinstance(entry, dict) else entry[0],
                                      "not sent: messages were closed")

    def _run_chat(self, client: sis.Client) -> None:
        wire = orderwire.Orderwire(
            client, ttl_s=PATIENCE_S,
            changed=lambda message: self.conversation.set(message.tag, message.state))
        try:
            while not self._stop.is_set():
                if not self._chats.empty() and client.flow_on:
                    entry = self._chats.get()
                    wire.say(entry["peer"], entry["text"], entry)
                found = wire.take(client.next(timeout=0.1))
                if found is not None:
                    self.conversation.add("chat", "in", found[0], found[1][:MAX_TEXT],
                                          "received")
        finally:
            client.close()
            wire.close("messages were closed")

    def _run_files(self, receivers: List[files.Receiver]) -> None:
        try:
            while not self._stop.is_set():
                for receiver in receivers:
                    self._receive(receiver, receiver.client.next(timeout=0.05))
                try:
                    entry, data = self._files.get(timeout=0.0 if receivers else 0.1)
                except queue.Empty:
                    continue
                self.sending = entry["text"]
                try:
                    self.conversation.set(entry, "sending")
                    self.conversation.set(entry, self._send(receivers, entry, data))
                except (sis.SisError, ValueError) as error:
                    self.conversation.set(entry, f"not delivered: {error}")
                finally:
                    self.sending, self.unsubmitted = "", 0.0
        finally:
            for receiver in receivers:
                receiver.client.close()
                receiver.finish()

    def _send(self, receivers: List[files.Receiver], entry: Dict[str, Any], data: bytes) -> str:
        """Send a file. Returns the state that it ends in."""
        group = s5066.address(entry["peer"]).is_group()
        sap = s5066.SAP_UDOP if group else s5066.SAP_RCOP
        borrowed = next((r for r in receivers if r.client.sap == sap), None)
        client = borrowed.client if borrowed is not None else \
            _bound(self.server, sap, sis.service("non_arq" if group else "arq"))

        def goes_on(state: files.Sending) -> None:
            if self._stop.is_set():
                raise sis.SisError("messages were closed")
            if state.octets:
                self.unsubmitted = float(state.octets - state.submitted)
                done = state.submitted if group else state.confirmed
                entry["octets_done"] = min(len(data), round(len(data) * done / state.octets))

        try:
            result = files.send(client, entry["peer"], entry["text"], data, PATIENCE_S,
                                repeats=1 if group else 0, progress=goes_on,
                                other=None if borrowed is None else
                                lambda p: self._receive(borrowed, p))
        finally:
            if borrowed is None:
                client.close()
        if result.failure:
            return f"not delivered: {result.failure}"
        return "sent" if group else "delivered"

    def _receive(self, receiver: files.Receiver, p: Any) -> None:
        received = receiver.take(p)
        if received is not None:
            self.conversation.add("file", "in", received.source, received.path, "received",
                                  received.octets)


def _free(server: str, sap: int, service: Any) -> List[sis.Client]:
    """A client for a SAP, or none if another program has it, as a gateway that receives
    broadcasts of mail."""
    try:
        return [_bound(server, sap, service)]
    except sis.SisError:
        return []


def _bound(server: str, sap: int, service: Any) -> sis.Client:
    client = sis.Client(server)
    try:
        client.bind(sap, 0, service)
    except sis.SisError:
        client.close()
        raise
    return client
