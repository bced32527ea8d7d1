# SPDX-License-Identifier: GPL-3.0-or-later
"""One stanza as text and as a tree. Text from the air is hostile.

A stanza is read inside an element that the reader itself has opened. So a document type, and with
it every entity but the five of XML, is a syntax error.
"""
from typing import Any, Dict, Optional
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

Element = ElementTree.Element

SERVER = "jabber:server"
#: Namespace of the component protocol, XEP-0114.
COMPONENT = "jabber:component:accept"
_XML = "{http://www.w3.org/XML/1998/namespace}"
KINDS = ("message", "presence", "iq")
#: Deepest nesting, and longest address (RFC 6120 8.1: three parts of 1023 octets).
MAX_DEPTH, MAX_JID = 32, 3071


class StanzaError(ValueError):
    """Octets are no stanza that may pass. The text says why."""


class Reader:
    """Reads one stanza from its parts."""

    def __init__(self, max_octets: int) -> None:
        self._left, self._depth = max_octets, 0
        self._max_octets = max_octets
        self._parser = ElementTree.XMLPullParser(["start", "end", "comment", "pi"])
        self._parser.feed(f"<stream xmlns='{SERVER}'>".encode())
        self._root: Optional[Element] = None

    def feed(self, octets: bytes) -> Optional[Element]:
        """The stanza, when its last octet is here. Raises StanzaError."""
        self._left -= len(octets)
        if self._left < 0:
            raise StanzaError(f"longer than {self._max_octets} octets")
        try:
            self._parser.feed(octets)
            for event, element in self._parser.read_events():
                if self._step(event, element):
                    return self._finish(element)
        except ElementTree.ParseError as error:
            raise StanzaError(f"not well-formed: {error}") from None
        return None

    def _step(self, event: str, element: Any) -> bool:
        if event not in ("start", "end"):
            raise StanzaError("comments and processing instructions are not allowed")
        self._depth += 1 if event == "start" else -1
        if self._depth > MAX_DEPTH:
            raise StanzaError(f"nested deeper than {MAX_DEPTH}")
        if event == "start" and self._root is None:
            self._root = element
        elif event == "start" and self._depth == 2 and kind_of(element) not in KINDS:
            raise StanzaError("no message, presence or iq of jabber:server")
        if self._depth == 0:
            raise StanzaError("the stream is closed inside")
        return event == "end" and self._depth == 1

    def _finish(self, element: Element) -> Element:
        self._parser.feed(b"</stream>")
        self._parser.close()
        assert self._root is not None
        if len(self._root) != 1 or (self._root.text or "").strip() or (element.tail or "").strip():
            raise StanzaError("more than one stanza")
        element.tail = None
        return element


def read(octets: bytes, max_octets: int) -> Element:
    """A stanza from its text. Raises StanzaError."""
    found = Reader(max_octets).feed(octets)
    if found is None:
        raise StanzaError("incomplete")
    return found


def write(element: Element, inside: str = SERVER) -> bytes:
    """A stanza as text in a stream whose default namespace is inside."""
    return "".join(_parts(element, inside)).encode()


def _parts(element: Element, inside: str) -> Any:
    namespace, _, name = element.tag[1:].rpartition("}")
    if not element.tag.startswith("{"):
        namespace, name = "", element.tag
    yield f"<{name}"
    if namespace != inside:
        yield f" xmlns={quoteattr(namespace)}"
    # In one order, the ID last: that is more alike, and shorter when it is compressed.
    for number, (key, value) in enumerate(sorted(element.attrib.items(),
                                                 key=lambda item: (item[0] == "id", item))):
        if key.startswith(_XML):
            key = f"xml:{key[len(_XML):]}"
        elif key.startswith("{"):
            of, _, key = key[1:].rpartition("}")
            yield f" xmlns:n{number}={quoteattr(of)}"
            key = f"n{number}:{key}"
        yield f" {key}={quoteattr(value)}"
    if not len(element) and not element.text:
        yield "/>"
        return
    yield ">" + escape(element.text or "")
    for child in element:
        yield from _parts(child, namespace)
        yield escape(child.tail or "")
    yield f"</{name}>"


def moved(element: Element, old: str, new: str) -> Element:
    """A copy with elements of one namespace in another."""
    tag = f"{{{new}}}{element.tag[len(old) + 2:]}" if element.tag.startswith(f"{{{old}}}") \
        else element.tag
    copy = ElementTree.Element(tag, dict(element.attrib))
    copy.text, copy.tail = element.text, element.tail
    copy.extend([moved(child, old, new) for child in element])
    return copy


def kind_of(element: Element) -> str:
    """message, presence, iq, or empty for what is no stanza between servers."""
    namespace, _, name = element.tag[1:].rpartition("}")
    return name if namespace == SERVER and name in KINDS else ""


def bare(jid: str) -> str:
    """An address without its resource."""
    return jid.partition("/")[0]


def domain(jid: str) -> str:
    """The domain of an address, in small letters. Empty if the address is not proper."""
    parts = bare(jid).lower().split("@")
    return parts[-1] if len(jid.encode()) <= MAX_JID and len(parts) <= 2 else ""


def find(element: Element, namespace: str, name: str) -> Optional[Element]:
    """A child by its name."""
    return element.find(f"{{{namespace}}}{name}")


def made(kind: str, attributes: Dict[str, str]) -> Element:
    """A new stanza. Attributes without a value are left out."""
    return ElementTree.Element(f"{{{SERVER}}}{kind}", {k: v for k, v in attributes.items() if v})


def child(parent: Element, namespace: str, name: str, **attributes: str) -> Element:
    """Add a child."""
    return ElementTree.SubElement(parent, f"{{{namespace}}}{name}", attributes)


def error_for(stanza: Element, condition: str, text: str, kind: str = "wait") -> Optional[Element]:
    """The error that tells the writer of a stanza what became of it. None: the stanza must not be
    answered (RFC 6120 8.3.1)."""
    if stanza.get("type") in ("error", "result") or kind_of(stanza) == "presence":
        return None
    answer = made(kind_of(stanza), {"type": "error", "from": stanza.get("to", ""),
                                    "to": stanza.get("from", ""), "id": stanza.get("id", "")})
    error = child(answer, SERVER, "error", type=kind)
    child(error, "urn:ietf:params:xml:ns:xmpp-stanzas", condition)
    child(error, "urn:ietf:params:xml:ns:xmpp-stanzas", "text").text = text
    return answer
