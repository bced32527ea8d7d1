# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a trial, a self-contained HTML page."""
import html
from typing import Any, Callable, Iterable, List, Optional, Sequence

from .. import version
from . import plots
from .cost import PARTS
from .findings import Blocks, Findings, Row, mode_order, quartiles, read
from .store import utc_text

#: Marks a page as written by hf.
FIRST_LINE = "<!DOCTYPE html><!-- report of hf trial -->"
#: Limit of failures listed individually, the latest first.
_MOST_TROUBLES = 100
STATES = ("done", "failed", "interrupted", "missed", "running")

_STYLE = """
:root { color-scheme: light dark; --back: #ffffff; --ink: #1a1a1a; --grid: #b8bcc4;
        --panel: #f4f5f7; --dim: #5b6068; --first: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --back: #15181d; --ink: #e6e8eb; --grid: #4a515c;
        --panel: #1d2229; --dim: #a0a7b1; --first: #56a8dd; } }
body { font: 16px/1.45 system-ui, sans-serif; background: var(--back); color: var(--ink);
       max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .4rem; }
p { margin: .3rem 0; } .dim { color: var(--dim); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--grid); text-align: right;
         white-space: nowrap; }
th { background: var(--panel); } .text { text-align: left; } td.why { white-space: normal;
     min-width: 14rem; text-align: left; }
@media print { :root { color-scheme: light; --back: #ffffff; --ink: #000000; --grid: #a0a0a0;
        --panel: #f4f5f7; --dim: #404040; --first: #0072b2; }
    body { max-width: none; padding: 0; } svg, tr { break-inside: avoid; }
    h2 { break-after: avoid; } .wide { overflow: visible; } }
svg { width: 100%; height: auto; max-width: 48rem; } svg text { fill: currentColor; }
"""


def page(paths: Sequence[str], progress: Callable[[float], object] = lambda _: None) -> str:
    """The report from the databases of one trial. progress: called with the share that is done,
    0 to 1. Raises store.StoreError."""
    f = read(paths)
    progress(0.3)
    parts = [_head(f), _summary(f), _costs(f)]
    for title, wanted, draw, words in (
            ("The channel", f.receptions, plots.channel,
             "Each point is the mean over the blocks of a received transmission. Transmissions "
             "too short to measure spreads show none."),
            ("Goodput by mode", f.transfers, plots.goodput_by_mode,
             "Boxes: quartiles and median. Points: transfers, including those cut off by the end "
             "of their slot. The mode is the last one of the sender's data. Goodput counts the "
             "octets of the application. HF-PEP compresses pages, so their goodput may exceed the "
             "bit rate of the mode."),
            ("Goodput by hour of the day", f.transfers, plots.goodput_by_hour, ""),
            ("Calls that linked", f.calls, plots.linked_by_hour,
             "Slots of the sender in which it called for a link. Numbers: linked/called.")):
        parts.append(_plot(title, wanted, f, draw, words))
        progress(0.3 + 0.14 * (len(parts) - 3))
    parts += [_plot("Block errors by mode", f.blocks, f, plots.block_errors,
                    "Interleaver blocks of a known pattern: received with an error (full), or not "
                    "at all (hatched)."), _block_table(f.blocks), _troubles(f), _runs(f)]
    body = "\n".join(part for part in parts if part)
    return (f"{FIRST_LINE}\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            f"<title>{html.escape(f.name)}: report</title>\n<style>{_STYLE}</style>\n</head>\n"
            f"<body>\n{body}\n</body>\n</html>\n")


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]], text: Sequence[int] = (),
           why: Optional[int] = None) -> str:
    """HTML table. text: columns aligned left. why: column with long text."""
    def cell(k: int, value: Any, tag: str) -> str:
        kind = ' class="why"' if k == why and tag == "td" else ' class="text"' if k in text else ""
        return f"<{tag}{kind}>{html.escape(str(value))}</{tag}>"

    lines = ["<tr>" + "".join(cell(k, c, "th") for k, c in enumerate(columns)) + "</tr>"]
    lines += ["<tr>" + "".join(cell(k, v, "td") for k, v in enumerate(row)) + "</tr>"
              for row in rows]
    return '<div class="wide"><table>\n' + "\n".join(lines) + "\n</table></div>"


def _head(f: Findings) -> str:
    span = f"{utc_text(f.begin)[:16]}Z to {utc_text(f.end)[:16]}Z" if f.begin is not None \
        else "nothing yet"
    lines = [f"<h1>{html.escape(f.name)}</h1>",
             f"<p>{span.replace('T', ' ')}; databases of {html.escape(', '.join(f.names))}</p>"]
    if f.dry:
        lines.append(f"<p><strong>Dry run</strong>: the air was simulated "
                     f"(<code>{html.escape(f.dry)}</code>).</p>")
    lines += [f'<p class="dim">{html.escape(note)}</p>' for note in f.notes]
    lines.append(f'<p class="dim">gr-hf {version.__version__}, hf trial report</p>')
    return "\n".join(lines)


def _spread(values: List[float], digits: int) -> str:
    q = quartiles(values)
    return f"{q[1]:.{digits}f} ({q[0]:.{digits}f} to {q[2]:.{digits}f})" if q else ""


def _summary(f: Findings) -> str:
    def row(r: Row) -> List[Any]:
        count = sum(r.states.values())
        share = f"{100 * r.linked / r.calls:.0f} % ({r.linked}/{r.calls})" if r.calls else ""
        others = ", ".join(f"{r.states[s]} {s}" for s in STATES[1:] if s in r.states)
        return [r.kind, r.sender, r.receiver or "all", f"{r.states.get('done', 0)}/{count}", share,
                _spread(r.goodputs, 0), _spread(r.round_trips, 1), others]

    rows = sorted(f.rows, key=lambda r: (r.kind, r.sender, r.receiver))
    return "<h2>Summary</h2>\n" + _table(
        ["test", "from", "to", "done", "calls linked", "goodput, bit/s", "round trip, s",
         "otherwise"], map(row, rows), (0, 1, 2, 7)) \
        + '\n<p class="dim">Goodput and round trip: median (quartiles). Failed: incomplete at ' \
          "the end of the slot, or nothing done.</p>"


def _costs(f: Findings) -> str:
    rows = [r for r in f.rows if r.cost_s]
    if not rows:
        return ""
    return "<h2>Where the time went</h2>\n" + _table(
        ["test", "from", "to", "time, s", *(f"{name}, %" for name in PARTS)],
        ([r.kind, r.sender, r.receiver or "all", f"{sum(r.cost_s.values()):.0f}",
          *(f"{100 * r.cost_s[name] / sum(r.cost_s.values()):.0f}" for name in PARTS)]
         for r in rows), (0, 1, 2)) \
        + '\n<p class="dim">Time in which data waited at the sender. Data: what arrived. ' \
          "Protocol: headers and control D_PDUs. Turnaround: not transmitting. Padding: " \
          "preambles, rest of blocks. Loss: what was sent again. Slots in which data waited for " \
          "less than 10 s are left out.</p>"


def _plot(title: str, wanted: Sequence[Any], f: Findings, draw: Callable[[Findings], str],
          words: str) -> str:
    if not wanted:
        return f"<h2>{title}</h2>\n<p class=\"dim\">No data.</p>"
    return f"<h2>{title}</h2>\n" + (f'<p class="dim">{words}</p>\n' if words else "") + draw(f)


def _block_table(blocks: List[Blocks]) -> str:
    if not blocks:
        return ""
    return _table(
        ["mode", "from", "to", "transmissions", "lost", "blocks", "bad", "missing", "errors",
         "bit errors"],
        ([b.mode, b.sender, b.receiver, b.transmissions, b.lost, b.sent, b.bad, b.missing,
          f"{100 * b.share:.1f} %", f"{b.bit_errors}/{b.bits}"]
         for b in sorted(blocks, key=lambda b: mode_order(b.mode))), (0, 1, 2))


def _troubles(f: Findings) -> str:
    if not f.troubles:
        return ""
    last = sorted(f.troubles, key=lambda s: -s["begin"])[:_MOST_TROUBLES]
    more = len(f.troubles) - len(last)
    return "<h2>Slots not done</h2>\n" + _table(
        ["UTC", "test", "from", "to", "state", "why"],
        ([utc_text(s["begin"])[:19].replace("T", " "), s["kind"], s["sender"],
          s["receiver"] or "all", s["state"], s["why"] or ""] for s in last),
        (0, 1, 2, 3, 4, 5), 5) + (f'<p class="dim">and {more} before.</p>' if more else "")


def _runs(f: Findings) -> str:
    return "<h2>Runs of the program</h2>\n" + _table(
        ["station", "began, UTC", "ended, UTC", "why"],
        ([r["station"], *(utc_text(r[k])[:19].replace("T", " ") for k in ("began", "ended")),
          r["why"] or ("runs" if r["ended"] is None else "")] for r in f.runs), (0, 1, 2, 3))
