# SPDX-License-Identifier: GPL-3.0-or-later
"""HMTP (STANAG 5066 Annex F.5): SMTP with every command in one block, and every reply in another.

The client sends EHLO, for each mail MAIL, RCPT, DATA and the mail, then QUIT, and waits for
nothing. The server answers all of it at once. Neither has a clock or a socket here.

The first label of the client's name in EHLO is a tag, new in each session, which our server
repeats. So an answer that belongs to an earlier session, for example of a client that was killed,
is not mistaken for the answer to this one.
"""
from dataclasses import dataclass, field
import re
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple
import unicodedata

from ..plain_text import plain

SAP = 3
#: Longest command line (RFC 5321 4.5.3.1.4, with room for parameters).
MAX_COMMAND = 2048
#: Longest line of a mail. Mail servers allow 998 octets (RFC 5321 4.5.3.1.6), some send more.
MAX_LINE = 1 << 16
#: Recipients of one mail (RFC 5321 4.5.3.1.8).
MAX_RECIPIENTS = 100
#: Mails in one session, and octets of an answer.
MAX_MAILS, MAX_ANSWER = 100, 1 << 17
#: Limit of unknown commands in one session. After it the rest is not read.
MAX_ERRORS = 20

#: Start of a session. Nothing else that we send has a U_PDU that begins so.
SESSION_START = re.compile(rb"(?:EHLO|HELO) [^\r\n]{1,255}\r\n(?:MAIL FROM|NOOP|RSET|QUIT)", re.I)
#: A U_PDU with whole replies and nothing else.
REPLIES = re.compile(rb"(?:[2-5][0-9]{2}[ -][^\r\n]*\r\n)+")
_REPLY = re.compile(rb"([2-5][0-9]{2})([ -]?)([^\r\n]*)")
_LOCAL_PART = re.compile(r"[A-Za-z0-9_+=~][A-Za-z0-9._+=~-]*")
_PATH = re.compile(rb"(MAIL FROM|RCPT TO):\s*<([^<>\r\n\0]*)>(?: (.*))?", re.I)


class Mail(NamedTuple):
    """A mail on its way. sender is empty for a bounce. utf8: sent with SMTPUTF8 (RFC 6531), so its
    addresses and its header may have UTF-8."""

    sender: str
    recipients: List[str]
    data: bytes
    utf8: bool = False


class Reply(NamedTuple):
    """A reply of SMTP: its code, and its text in one line."""

    code: int
    text: str

    def __str__(self) -> str:
        return f"{self.code} {self.text}".strip()


#: For an address with UTF-8 in a mail that does not ask for SMTPUTF8.
NO_UTF8 = Reply(553, "5.6.7 an address with UTF-8 needs SMTPUTF8")
#: What becomes of each recipient. A missing recipient has no reply yet, and is tried again.
Outcome = Dict[str, Reply]


# --- text ---------------------------------------------------------------------------------------

def stuffed(data: bytes) -> bytes:
    """A mail as text of DATA: dots doubled at the start of lines, a line with one dot after it."""
    text = re.sub(rb"(?m)^\.", b"..", data)
    return text + (b"" if text.endswith(b"\r\n") or not text else b"\r\n") + b".\r\n"


def unstuffed(text: bytes) -> bytes:
    """The mail of a text of DATA without its last dot."""
    return re.sub(rb"(\A|\r\n)\.", rb"\1", text)


def with_crlf(data: bytes) -> bytes:
    """A mail whose lines all end with CR LF, as SMTP demands."""
    return re.sub(rb"\r\n|\r|\n", b"\r\n", data)


def domain_of(address: str) -> str:
    """Domain of an address, in small letters."""
    return address.rpartition("@")[2].lower()


# --- client -------------------------------------------------------------------------------------

def block(name: str, mails: List[Mail]) -> bytes:
    """A whole session as one block. name: of the client, with its tag."""
    lines = [f"EHLO {name}\r\n".encode()]
    for mail in mails:
        eight = " BODY=8BITMIME" if any(octet > 127 for octet in mail.data) else ""
        utf8 = " SMTPUTF8" if mail.utf8 else ""
        lines.append(f"MAIL FROM:<{mail.sender}>{eight}{utf8}\r\n".encode())
        lines += [f"RCPT TO:<{recipient}>\r\n".encode() for recipient in mail.recipients]
        lines += [b"DATA\r\n", stuffed(mail.data)]
    return b"".join(lines) + b"QUIT\r\n"


def u_pdus(octets: bytes, mtu: int) -> List[bytes]:
    """A block in U_PDUs. None but the first looks like the start of a session."""
    pieces, at = [], 0
    while at < len(octets):
        end = min(at + mtu, len(octets))
        while at < end < len(octets) and SESSION_START.match(octets, end):
            end -= 1
        pieces.append(octets[at:end])
        at = end
    return pieces


class Answer:
    """The server's replies to a session, counted against its commands."""

    def __init__(self, name: str, mails: List[Mail]) -> None:
        self.name, self.mails = name, mails
        self.outcomes: List[Outcome] = [{} for _ in mails]
        self.complete = self._begun = False
        #: Whether the server offers SMTPUTF8. None: it has not answered to EHLO.
        self.utf8: Optional[bool] = None
        self._octets = b""
        self._text: List[str] = []
        self._steps = self._commands()
        self._expected: Tuple[str, int, str] = next(self._steps)

    @property
    def begun(self) -> bool:
        """True after the first reply."""
        return self._begun

    @property
    def enough(self) -> bool:
        """True when only the reply to QUIT is missing. Some servers do not send all replies."""
        return self._expected[0] == "QUIT"

    def is_mine(self, u_pdu: bytes) -> Optional[bool]:
        """Whether a U_PDU begins the answer to this session. None: it does not say."""
        first = u_pdu.split(b"\r\n", 1)[0].decode("ascii", "replace")
        tag, _, domain = self.name.partition(".")
        words = [w for w in first[4:].split() if w.partition(".")[2] == domain]
        return None if not words or not domain else self.name in words

    def take(self, octets: bytes) -> None:
        """Read more of the answer."""
        self._begun = True
        *lines, self._octets = (self._octets + octets).split(b"\r\n")
        for line in lines:
            if self.complete:
                return
            found = _REPLY.fullmatch(line)
            if found is None:
                continue  # not a reply: text that another server has added
            self._text.append(plain(found.group(3).decode("ascii", "replace")))
            if found.group(2) == b"-":
                continue
            self._reply(Reply(int(found.group(1)), " ".join(self._text)[:400]))
            self._text = []
        if len(self._octets) > MAX_ANSWER or len(self._text) > 1000:
            self.complete = True

    def _commands(self):  # type: ignore[no-untyped-def]
        yield "EHLO", 0, ""
        for number, mail in enumerate(self.mails):
            yield "MAIL", number, ""
            for recipient in mail.recipients:
                yield "RCPT", number, recipient
            yield "DATA", number, ""
            yield ".", number, ""
        yield "QUIT", 0, ""

    def _reply(self, reply: Reply) -> None:
        command, number, recipient = self._expected
        if command == "EHLO" and reply.code == 220:
            return  # the greeting, which HMTP does not need
        if command == "EHLO" and reply.code < 400:
            self.utf8 = "SMTPUTF8" in (line.upper() for line in self._text)
        outcome = self.outcomes[number] if self.mails else {}
        if command == "MAIL" and reply.code >= 400:
            outcome.update({r: reply for r in self.mails[number].recipients})
        elif command == "RCPT" and reply.code >= 400:
            outcome.setdefault(recipient, reply)
        elif command == "DATA" and reply.code >= 400:
            # The server has read the mail as commands: the rest of its replies means nothing.
            self._all(number, reply)
            self.complete = True
        elif command == ".":
            self._all(number, reply)
        elif command in ("EHLO", "QUIT") and (command == "QUIT" or reply.code >= 400):
            self.complete = True
            return
        self._expected = next(self._steps)

    def _all(self, number: int, reply: Reply) -> None:
        """A reply for every recipient that has none."""
        for recipient in self.mails[number].recipients:
            self.outcomes[number].setdefault(recipient, reply)


# --- server -------------------------------------------------------------------------------------

@dataclass
class Transaction:
    """A mail that a server session has received.

    outcome: filled in by the gateway, for each recipient.
    decided: the answer need not wait for outcome.
    """

    mail: Mail
    outcome: Outcome = field(default_factory=dict)
    decided: bool = False


#: Says what to reply to a recipient: None if it is accepted.
Checks = Callable[[str], Optional[Reply]]
_OK = Reply(250, "ok")


class Session:
    """The server's side of one session. Replies wait until all of them are known, so that the
    replies to RCPT can say what the mail server thinks of each recipient."""

    def __init__(self, name: str, check: Checks, max_octets: int) -> None:
        self.name, self.check, self.max_octets = name, check, max_octets
        self.over = False
        #: Mails that have arrived, in their order.
        self.transactions: List[Transaction] = []
        self._octets = b""
        self._lines: List[Callable[[], str]] = []
        self._text: Optional[List[bytes]] = None  # of DATA
        self._text_octets = 0
        self._errors = 0
        self._reset()

    @property
    def inside_mail(self) -> bool:
        """True between DATA and the dot."""
        return self._text is not None

    def take(self, octets: bytes) -> None:
        """Read more of the client's block."""
        *lines, self._octets = (self._octets + octets).split(b"\r\n")
        for line in lines:
            if self.over:
                return
            if self._text is not None:
                self._text_line(line)
            else:
                self._command(line[:MAX_COMMAND + 1])
        if len(self._octets) > MAX_LINE and not self.over:
            self._octets = b""
            self._say(500, "5.5.2 line too long")
            self.over = True

    def answer(self) -> bytes:
        """All replies since the last answer, and none of them again."""
        text = "".join(line() + "\r\n" for line in self._lines)
        self._lines = []
        return text.encode("ascii", "replace")

    def _say(self, code: int, text: str) -> None:
        self._lines.append(lambda: f"{code} {text}")

    def _reset(self) -> None:
        self._sender: Optional[str] = None
        self._recipients: List[str] = []
        self._utf8 = False

    def _command(self, line: bytes) -> None:
        word = line[:4].upper()
        path = _PATH.fullmatch(line)
        if len(line) > MAX_COMMAND or self._errors > MAX_ERRORS:
            self._wrong(500, "5.5.2 line too long" if self._errors <= MAX_ERRORS else "")
        elif word in (b"EHLO", b"HELO"):
            self._greet(line)
        elif path and word == b"MAIL":
            self._mail(path)
        elif path and word == b"RCPT":
            self._rcpt(path.group(2).decode("utf-8", "replace"))
        elif line.upper() == b"DATA":
            # Always taken, so that the mail is never read as commands.
            self._say(354, "go")
            self._text, self._text_octets = [], 0
        elif word == b"QUIT":
            self._say(221, "bye")
            self.over = True
        elif word == b"RSET" or word == b"NOOP":
            if word == b"RSET":
                self._reset()
            self._say(250, "ok")
        elif line:
            self._wrong(500, "5.5.1 unknown command")

    def _wrong(self, code: int, text: str) -> None:
        self._errors += 1
        if self._errors <= MAX_ERRORS:
            self._say(code, text)

    def _greet(self, line: bytes) -> None:
        client = re.sub("[^a-zA-Z0-9.:_-]", "", line[5:].decode("ascii", "replace"))[:100]
        self._reset()
        self._say(250, self.name)
        if line[:4].upper() == b"EHLO":
            self._lines[-1:] = [lambda: f"250-{self.name} {client}", lambda: "250-PIPELINING",
                                lambda: "250-8BITMIME", lambda: "250 SMTPUTF8"]

    def _mail(self, path: "re.Match[bytes]") -> None:
        sender = path.group(2).decode("utf-8", "replace")
        utf8 = b"SMTPUTF8" in (path.group(3) or b"").upper().split()
        if not utf8 and not sender.isascii():
            self._wrong(*NO_UTF8)
        elif not good_path(sender, empty=True, utf8=utf8):
            self._wrong(501, "5.1.7 bad address")
        elif len(self.transactions) >= MAX_MAILS:
            self._wrong(452, "4.5.3 too many mails in one session")
        else:
            self._reset()
            self._sender, self._utf8 = sender, utf8
            self._say(250, "ok")

    def _rcpt(self, recipient: str) -> None:
        if self._sender is None:
            self._wrong(503, "5.5.1 MAIL first")
        elif not self._utf8 and not recipient.isascii():
            self._wrong(*NO_UTF8)
        elif not good_path(recipient, utf8=self._utf8):
            self._wrong(501, "5.1.3 bad address")
        elif len(self._recipients) >= MAX_RECIPIENTS:
            self._say(452, "4.5.3 too many recipients")
        elif (refusal := self.check(recipient)) is not None:
            self._say(*refusal)
        else:
            self._recipients.append(recipient)
            number = len(self.transactions)
            self._lines.append(lambda: str(self._recipient_reply(number, recipient)))

    def _recipient_reply(self, number: int, recipient: str) -> Reply:
        """What the mail server thinks of a recipient, if it was asked."""
        if number >= len(self.transactions):
            return _OK
        reply = self.transactions[number].outcome.get(recipient, _OK)
        return reply if reply.code >= 500 else _OK

    def _text_line(self, line: bytes) -> None:
        assert self._text is not None
        if line != b".":
            self._text_octets += len(line) + 2
            if self._text_octets <= self.max_octets:
                self._text.append(line[1:] if line.startswith(b".") else line)
            return
        data = b"".join(part + b"\r\n" for part in self._text)
        self._text = None
        if self._sender is None or not self._recipients:
            self._say(554, "5.5.1 no recipient")
        elif self._text_octets > self.max_octets:
            self._say(552, "5.3.4 mail too long")
        else:
            found = Transaction(Mail(self._sender, self._recipients, data, self._utf8))
            self.transactions.append(found)
            self._lines.append(lambda: str(self._dot_reply(found)))
        self._reset()

    @staticmethod
    def _dot_reply(found: Transaction) -> Reply:
        """250 if anyone has the mail, else the worst that can be repaired."""
        replies = [found.outcome.get(r, Reply(451, "4.3.0 try again"))
                   for r in found.mail.recipients]
        for low, high in ((200, 399), (400, 499)):
            for reply in replies:
                if low <= reply.code <= high:
                    return _OK if low == 200 else reply
        return Reply(554, "5.1.1 no recipient")


def good_path(address: str, empty: bool = False, utf8: bool = False) -> bool:
    """Whether an address may be used, or is empty where allowed. The local part has only the
    characters that no mail server reads as a route: quotes, comments, "%", "!" and a second "@"
    would turn a mail server that trusts this gateway into an open relay. utf8: letters, digits
    and marks of every script as well. Signs such as the full-width "@" stay out, and so do domains
    that a mail server could read as others: U+212A is a "k" to it."""
    if not address:
        return empty
    octets = len(address.encode("utf-8", "replace"))
    if not unicodedata.is_normalized("NFKC", address.rpartition("@")[2]):
        return False
    if utf8:
        address = "".join("x" if c > "\x7f" and unicodedata.category(c)[0] in "LMN" else c
                          for c in address)
    local, _, domain = address.rpartition("@")
    return bool(octets <= 320 and _LOCAL_PART.fullmatch(local)
                and re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?", domain))
