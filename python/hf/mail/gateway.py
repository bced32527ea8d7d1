# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway: mail from the mail server to HF, and from HF to the mail server.

Three kinds of threads share it: the SMTP server (intake), one carrier for each protocol, and the
delivery to the mail server. What they share is the spool, and a few tables under one lock. What is
in the spool survives; everything else can be lost at any time without losing or doubling a mail.
"""
from collections import deque
from email.utils import formatdate
import json
import os
import secrets
import threading
import time
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

from .. import sis
from ..station.mail_tables import Mail as Settings
from ..station.mail_tables import MailRoute
from . import bounce, policy, seen
from .broadcast import BroadcastCarrier
from .carrier import Carrier, Work
from .cftp_carrier import CftpCarrier
from .delivery import deliver
from .hmtp import NO_UTF8, Mail, Outcome, Reply, Transaction, domain_of, good_path
from .hmtp_carrier import HmtpCarrier
from .intake import Handler, Intake
from .spool import Envelope, Spool, SpoolError

_CARRIERS = (HmtpCarrier, CftpCarrier, BroadcastCarrier)
_KEPT = Reply(250, "ok")
_FULL = Reply(452, "4.3.1 spool full")
#: Seconds between two writes of the status file.
STATUS_S = 1.0
#: Mails that have left, kept for the page.
MAX_RECENT = 50
#: Seconds that close() waits for the reply of the mail server. systemd kills after 90 s.
CLOSE_S = 30.0
#: Bounces of mails from one node in an hour.
MAX_BOUNCES = 20


class Gateway(Work):
    """Runs from start() to close().

    address: of the station, which names the gateway if [mail] does not.
    say: called with lines for the log, from any thread.
    """

    def __init__(self, settings: Settings, address: str, server: str,
                 say: Callable[[str], None] = lambda text: None) -> None:
        self.settings, self._say = settings, say
        self.name = settings.gateway_name(address)
        self.spool = Spool(settings.spool, settings.max_messages, settings.max_octets_spooled)
        self._lock = threading.RLock()
        self._decided = threading.Condition(self._lock)
        self._end, self._wake = threading.Event(), threading.Event()
        self._give_up = threading.Event()
        self._nodes: Dict[str, _Node] = {}
        self._mta = _Node()
        self._bounced: Dict[str, Deque[float]] = {}  # times of the last bounces, by node
        self._open: Dict[str, Transaction] = {}  # by ID of the mail in the queue in
        self._number: Optional[int] = None
        self._recent: Deque[Dict[str, Any]] = deque(maxlen=MAX_RECENT)
        self.counts = {name: 0 for name in ("accepted", "sent", "received", "delivered",
                                            "second_copies", "bounced")}
        self.intake = Intake(Handler(self.check_for_hf, self.accept, self.accept_each),
                             settings.listen, self.name, settings.max_octets)
        self._carriers: List[Carrier] = [kind(self, server) for kind in _CARRIERS
                                         if kind.protocol in settings.protocols()]
        self._thread = threading.Thread(target=self._run, name="mail delivery", daemon=True)

    def start(self) -> None:
        """Claim the spool, listen, and begin. Raises SpoolError and OSError."""
        self.spool.start()
        self._seen = seen.Seen(os.path.join(self.spool.folder, "seen"), time.time())
        self.intake.start()
        self._thread.start()
        for carrier in self._carriers:
            carrier.start()

    def close(self) -> None:
        """End all threads. Mails stay in the spool."""
        self._end.set()
        self._wake.set()
        for carrier in self._carriers:
            carrier.end()
        # A delivery that ends here without a reply to its mail may become a second copy.
        self._thread.join(CLOSE_S)
        self._give_up.set()
        self._thread.join()
        self.intake.stop()
        self.spool.close()

    def say(self, text: str) -> None:
        """Log a line."""
        self._say(f"mail: {text}")

    # --- from the mail server -------------------------------------------------------------------

    def check_for_hf(self, recipient: str, utf8: bool = False) -> Optional[Reply]:
        """Reply that refuses a recipient of this side's programs. utf8: of a mail that needs
        SMTPUTF8, which only HMTP carries."""
        if not utf8 and not recipient.isascii():
            return NO_UTF8
        if not good_path(recipient, utf8=utf8):
            return Reply(553, "5.1.3 address: allowed are letters, digits and ._+=~- before the @")
        if any(policy.fits(domain_of(recipient), d) for d in self.settings.domains):
            return Reply(550, "5.4.6 a domain of this side, which the mail server should keep")
        found = policy.route(self.settings, recipient)
        if found is None:
            return Reply(550, "5.7.1 no route to this domain over HF")
        if utf8 and found.protocol != HmtpCarrier.protocol:
            return Reply(550, f"5.6.7 {found.protocol} does not carry SMTPUTF8")
        return None

    def accept(self, mail: Mail) -> Reply:
        """Take a mail for HF. The reply is 250 when it is on disk."""
        if policy.loops(mail.data, self.name):
            return Reply(554, "5.4.6 the mail loops")
        if not mail.utf8 and not mail.sender.isascii():
            return NO_UTF8
        if not good_path(mail.sender, empty=True, utf8=mail.utf8):
            return Reply(553, "5.1.7 sender: allowed are letters, digits and ._+=~- before the @")
        groups: Dict[Tuple[str, str], List[str]] = {}
        for recipient in mail.recipients:
            found = policy.route(self.settings, recipient)
            if found is None:
                return Reply(550, "5.7.1 no route to this domain over HF")
            groups.setdefault((found.node, found.protocol), []).append(recipient)
        queue = "held" if len(mail.data) > self.settings.hold_octets else "out"
        ids: List[str] = []
        for (node, protocol), recipients in groups.items():
            try:
                ids.append(self._spool(queue, mail._replace(recipients=recipients), node,
                                       protocol).id)
            except SpoolError as error:
                for id_ in ids:
                    self.spool.remove(queue, id_)
                self.say(str(error))
                return _FULL
        self._count("accepted")
        if queue == "held":
            self.say(f"held: {', '.join(ids)}, {len(mail.data)} octets, more than hold_octets = "
                     f"{self.settings.hold_octets}; hf mail release sends it")
        return Reply(250, f"2.0.0 ok: {queue} {' '.join(ids)}")

    def accept_each(self, mail: Mail) -> Dict[str, Reply]:
        """As accept(), but with a reply for each recipient. Each node and protocol has its own
        copy in the spool, so some can be accepted and others not."""
        groups: Dict[object, List[str]] = {}
        for recipient in mail.recipients:
            found = policy.route(self.settings, recipient)
            groups.setdefault(found and (found.node, found.protocol), []).append(recipient)
        return {r: reply for some in groups.values()
                for reply in [self.accept(mail._replace(recipients=some))] for r in some}

    def _spool(self, queue: str, mail: Mail, node: str, protocol: str,
               keys: Optional[Dict[str, str]] = None) -> Envelope:
        envelope = Envelope(self.spool.new_id(), mail.sender, mail.recipients, node, protocol,
                            len(mail.data), time.time(), policy.priority(mail.data),
                            keys=keys or {}, utf8=mail.utf8)
        self.spool.add(queue, envelope, mail.data)
        return envelope

    # --- to HF: called by carriers --------------------------------------------------------------

    def due(self, protocol: str, busy: List[str]) -> Dict[str, List[Envelope]]:
        """Mails that may be sent now, by node."""
        now, found = time.time(), {}  # type: float, Dict[str, List[Envelope]]
        with self._lock:
            for mail in self.spool.entries("out"):
                if mail.protocol != protocol or mail.node in busy:
                    continue
                if mail.next_try <= now and self._node(mail.node).may_try():
                    found.setdefault(mail.node, []).append(mail)
        return found

    def data(self, mail: Envelope) -> Optional[bytes]:
        """Octets of a mail to send."""
        return self.spool.data("out", mail.id)

    def settled(self, mail: Envelope, outcome: Outcome) -> None:
        """What has become of each recipient of a mail for HF."""
        failed = {r: reply for r, reply in outcome.items() if reply.code >= 500}
        done = {r for r, reply in outcome.items() if reply.code < 400}
        mail.recipients = [r for r in mail.recipients if r not in done and r not in failed]
        later = [outcome[r] for r in mail.recipients if r in outcome]
        mail.error = str(later[0]) if later else "" if not mail.recipients else "no reply"
        mail.attempts += 1
        mail.next_try = time.time() + policy.pause(self.settings, mail.attempts)
        if failed:
            self._bounce_spooled("out", mail, failed)
        if mail.recipients:
            self.say(f"to {mail.node}: {mail.id} later: {mail.error}")
            self.spool.update("out", mail)
        else:
            self.spool.remove("out", mail.id)
        if done:
            self._count("sent")
            self._note("out", mail, "sent", sorted(done))
            self.say(f"to {mail.node}: {mail.id} sent, {mail.octets} octets")

    def failed(self, node: str, mails: List[Envelope], why: str) -> None:
        """A node could not be reached, or did not answer."""
        with self._lock:
            wait = policy.pause(self.settings, self._node(node).failures + 1)
            self._node(node).fail(why, wait)
        self.say(f"to {node}: {len(mails)} mails later, in {wait:.0f} s: {why}")

    def reached(self, node: str) -> None:
        """Something has arrived from a node: mails for it need not wait longer."""
        with self._lock:
            self._node(node).reach()

    def file_number(self, node: str) -> int:
        """Number of the next file of CFTP or BFTP, kept on disk."""
        path = os.path.join(self.spool.folder, "number")
        with self._lock:
            if self._number is None:
                try:
                    with open(path, encoding="ascii") as file:
                        self._number = int(file.read(10))
                except (OSError, ValueError):
                    self._number = secrets.randbelow(256)
            self._number = (self._number + 1) % 256
            try:
                with open(path + ".tmp", "w", encoding="ascii") as file:
                    file.write(str(self._number))
                os.rename(path + ".tmp", path)
            except OSError:
                pass  # a full disk: the number matters only after a restart
            return self._number

    def broadcast(self, node: str) -> MailRoute:
        """The route of a broadcast."""
        return next(r for r in self.settings.route
                    if r.node == node and r.protocol == "broadcast")

    def _node(self, node: str) -> "_Node":
        return self._nodes.setdefault(node, _Node())

    # --- from HF: called by carriers ------------------------------------------------------------

    def check(self, recipient: str) -> Optional[Reply]:
        """Reply that refuses a recipient from HF."""
        return policy.refusal_from_hf(self.settings, recipient)

    def receive(self, node: str, protocol: str, arrived: Transaction) -> None:
        """Put a mail from HF into the spool, without recipients that have it."""
        mail = arrived.mail
        if policy.loops(mail.data, self.name):
            self._refuse(arrived, Reply(554, "5.4.6 the mail loops"))
            return
        with self._lock:
            keys = {r: seen.key(mail.data, mail.sender, r) for r in mail.recipients}
            waiting = {k: e.id for e in self.spool.entries("in") for k in e.keys.values()}
            for id_ in {waiting[k] for k in keys.values() if k in waiting}:
                # Its first copy was never answered: from now on we answer for it.
                self._decide(self._open.get(id_))
            new = {r: k for r, k in keys.items() if k not in self._seen and k not in waiting}
            arrived.outcome.update({r: _KEPT for r in keys if r not in new})
            if len(new) < len(keys):
                self._count("second_copies")
                self.say(f"from {node}: second copy dropped")
            if not new:
                arrived.decided = True
                return
            try:
                envelope = self._spool("in", mail._replace(recipients=list(new)), node, protocol,
                                       new)
            except SpoolError as error:
                self.say(str(error))
                self._refuse(arrived, _FULL)
                return
            self._count("received")
            self.say(f"from {node}: {envelope.id} received, {envelope.octets} octets")
            if self._mta.may_try():
                self._open[envelope.id] = arrived
            else:
                self._decide(arrived)
        self._wake.set()

    @staticmethod
    def _refuse(arrived: Transaction, reply: Reply) -> None:
        for recipient in arrived.mail.recipients:
            arrived.outcome.setdefault(recipient, reply)
        arrived.decided = True

    def decide(self, arrived: List[Transaction], wait_s: float) -> None:
        """Wait for the mail server, but not for long. What it refuses later becomes a bounce."""
        with self._lock:
            self._decided.wait_for(lambda: all(t.decided for t in arrived), wait_s)
            for transaction in arrived:
                self._decide(transaction)

    @staticmethod
    def _decide(arrived: Optional[Transaction]) -> None:
        if arrived is not None and not arrived.decided:
            for recipient in arrived.mail.recipients:
                arrived.outcome.setdefault(recipient, _KEPT)
            arrived.decided = True

    # --- to the mail server ---------------------------------------------------------------------

    def _run(self) -> None:
        wrote = 0.0
        while not self._end.is_set():
            self._wake.wait(0.2)
            self._wake.clear()
            try:
                self._deliver_all()
                if time.monotonic() - wrote > STATUS_S:
                    wrote = time.monotonic()
                    self._expire()
                    self._write_status()
            except Exception as error:  # of whatever kind: mail must go on
                self.say(f"delivery: {error!r}")
                self._end.wait(5.0)

    def _deliver_all(self) -> None:
        """Deliver what waits, as long as the mail server can be reached."""
        for mail in self.spool.entries("in"):
            if self._end.is_set() or not self._mta.may_try():
                break
            if mail.next_try <= time.time():
                self._deliver(mail)

    def _deliver(self, mail: Envelope) -> None:
        data = self.spool.data("in", mail.id)
        if data is None:
            return
        trace = b"" if mail.protocol == "local" else \
            policy.received_line(mail, self.name, formatdate())
        server = sis.parse_server(self.settings.bounces if mail.protocol == "local"
                                  else self.settings.deliver)
        # A gateway that was killed may have delivered this mail, and only noted it.
        outcome = {r: _KEPT for r in mail.recipients if mail.keys.get(r) in self._seen}
        left = [r for r in mail.recipients if r not in outcome]
        if left:
            outcome.update(deliver(
                server, self.name, mail.sender, left, trace + data, self._give_up,
                lambda kept_for: self._remember([mail.keys[r] for r in kept_for
                                                 if r in mail.keys]), mail.utf8))
        done = [r for r, reply in outcome.items() if reply.code < 400]
        if set(done) & set(left):
            self._count("delivered")
            self._note("in", mail, "delivered to the mail server", done)
        with self._lock:
            failed = {r: reply for r, reply in outcome.items() if reply.code >= 500}
            arrived = self._open.pop(mail.id, None)
            if arrived is not None and not arrived.decided:
                arrived.outcome.update(failed)  # the answer says it
                self._decide(arrived)
                self._decided.notify_all()
            elif failed:
                self._bounce_spooled("in", mail, failed)
            mail.recipients = [r for r in mail.recipients if r not in done and r not in failed]
            if not mail.recipients:
                self.spool.remove("in", mail.id)
                self._mta.reach()
                return
            mail.error = str(outcome[mail.recipients[0]])
            mail.attempts += 1
            mail.next_try = time.time() + policy.pause(self.settings, mail.attempts)
            self.spool.update("in", mail)
            if "4.4.1" in mail.error or "4.4.2" in mail.error:
                self._mta.fail(mail.error, policy.pause(self.settings, self._mta.failures + 1))
        self.say(f"to the mail server: {mail.id} later: {mail.error}")

    def _remember(self, keys: List[str]) -> None:
        try:
            self._seen.add(keys, time.time())
        except OSError as error:
            self.say(f"{error.filename}: {error.strerror}; second copies may pass after a restart")

    # --- bounces --------------------------------------------------------------------------------

    def bounce(self, mail: Mail, failed: Outcome, node: str = "") -> None:
        """Tell the sender of a mail what failed. A bounce itself has no sender, and is not
        bounced. Without room for it, it is logged.

        node: that a mail from HF came from. Its sender may be forged, so the bounce may only go
        back to that node, and MAX_BOUNCES in an hour."""
        self.say("bounce: " + "; ".join(f"{r}: {reply}" for r, reply in failed.items()))
        if not mail.sender:
            return
        own = any(policy.fits(domain_of(mail.sender), d) for d in self.settings.domains)
        found = None if own else policy.route(self.settings, mail.sender)
        if node and not self._may_bounce(node, found):
            self.say(f"no bounce to {mail.sender}, whose mail came from {node}")
            return
        notice = bounce.notification(self.name, mail, failed)
        try:
            if found is not None and found.protocol != "broadcast":
                self._spool("out", notice, found.node, found.protocol)
            else:
                self._spool("in", notice, "", "local")
                self._wake.set()
            self._count("bounced")
        except SpoolError as error:
            self.say(f"no bounce to {mail.sender}: {error}")

    def _may_bounce(self, node: str, found: Optional[MailRoute]) -> bool:
        """Whether a mail from a node may be bounced. found: route of its sender."""
        if found is None or found.node != node or found.protocol == "broadcast":
            return False
        with self._lock:
            times = self._bounced.setdefault(node, deque(maxlen=MAX_BOUNCES))
            if len(times) == MAX_BOUNCES and time.monotonic() - times[0] < 3600:
                return False
            times.append(time.monotonic())
            return True

    def _bounce_spooled(self, queue: str, mail: Envelope, failed: Outcome) -> None:
        why = "; ".join(dict.fromkeys(str(reply) for reply in failed.values()))
        self._note("in" if queue == "in" else "out", mail, f"not delivered: {why}", list(failed))
        data = self.spool.data(queue, mail.id) or b""
        self.bounce(Mail(mail.sender, list(failed), data), failed,
                    mail.node if queue == "in" else "")

    def _expire(self) -> None:
        """Bounce what has waited for too long."""
        oldest = time.time() - self.settings.expire_days * 86400
        for queue in ("out", "in"):
            for mail in self.spool.entries(queue):
                if mail.arrived < oldest and mail.id not in self._open:
                    why = mail.error or (self._node(mail.node).error if mail.node else "")
                    reply = Reply(554, f"5.4.7 not delivered within {self.settings.expire_days:g} "
                                       f"days; {why}"[:200])
                    self._bounce_spooled(queue, mail, {r: reply for r in mail.recipients})
                    self.spool.remove(queue, mail.id)

    # --- status ---------------------------------------------------------------------------------

    def _note(self, way: str, mail: Envelope, state: str, recipients: List[str]) -> None:
        with self._lock:
            self._recent.appendleft({
                "id": mail.id, "way": way, "node": mail.node, "octets": mail.octets,
                "sender": mail.sender, "recipients": recipients, "state": state,
                "at": round(time.time())})

    def recent(self) -> List[Dict[str, Any]]:
        """Mails that have left since the start, the newest first: way (out: to HF, in: from HF),
        state, and what the spool said of them."""
        with self._lock:
            return list(self._recent)

    def _count(self, name: str) -> None:
        with self._lock:
            self.counts[name] += 1

    def status(self) -> dict:
        """State of a running gateway, for hf mail status."""
        with self._lock:
            return {"name": self.name, "time": time.time(), "counts": dict(self.counts),
                    "nodes": {n: s.words() for n, s in self._nodes.items()},
                    "mail_server": self._mta.words()}

    def _write_status(self) -> None:
        path = os.path.join(self.spool.folder, "status.json")
        try:
            with open(path + ".tmp", "w", encoding="utf-8") as file:
                json.dump(self.status(), file)
            os.rename(path + ".tmp", path)
        except OSError:
            pass


class _Node:
    """Whether a node, or the mail server, can be reached, and when to try again."""

    def __init__(self) -> None:
        self.failures, self.error, self._until = 0, "", 0.0

    def may_try(self) -> bool:
        """Whether the pause after the last failure is over."""
        return time.monotonic() >= self._until

    def fail(self, why: str, pause: float) -> None:
        """An attempt has failed: pause for this many seconds."""
        self.failures += 1
        self.error, self._until = why, time.monotonic() + pause

    def reach(self) -> None:
        """It can be reached."""
        self.failures, self.error, self._until = 0, "", 0.0

    def words(self) -> str:
        """The state for a person."""
        if not self.failures:
            return "reached"
        wait = max(self._until - time.monotonic(), 0)
        return f"{self.error}; attempt {self.failures + 1} in {wait:.0f} s"
