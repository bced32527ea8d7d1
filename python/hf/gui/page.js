// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the states from /api/stream. Texts from the station are set as text, never as markup.
import * as drawing from "/drawing.js";
import { facts, phase, report, tables } from "/facts.js";

const views = new Map();
let latest = null, heard = 0;
const token = location.hash.slice(1);

function text(parent, selector, value) {
  const e = parent.querySelector(selector);
  if (e.textContent !== value) e.textContent = value;
}

function table(node, selector, heads, rows) {
  const t = node.querySelector(selector), key = JSON.stringify(rows);
  if (t.dataset.key === key) return;
  t.dataset.key = key;
  const line = (cells, kind) => {
    const tr = document.createElement("tr");
    cells.forEach(v => {
      const e = document.createElement(kind);
      if (typeof v === "number" || kind === "th" && v.endsWith(" ")) e.className = "n";
      e.textContent = v;
      tr.append(e);
    });
    return tr;
  };
  t.replaceChildren(line(heads, "th"), ...rows.map(r => line(r, "td")));
}

function cards(node, s) {
  const box = node.querySelector(".cards"), list = facts(s);
  while (box.children.length < list.length) {
    const card = document.createElement("div");
    card.className = "card";
    card.append(document.createElement("b"), document.createElement("span"));
    box.append(card);
  }
  list.forEach(([what, value], k) => {
    text(box.children[k], "b", value);
    text(box.children[k], "span", what);
  });
}

function order(name, action, value, said) {
  fetch("/api/control", { method: "POST", headers: { "X-HF-Token": token },
    body: JSON.stringify({ station: name, action, value }) })
    .then(r => r.text()).then(t => { said.textContent = t; })
    .catch(() => { said.textContent = "the station does not answer"; });
}

function controls(node, s, allowed) {
  const box = node.querySelector(".controls");
  if (!allowed.length || !token || box.children.length) return;
  box.hidden = false;
  const said = document.createElement("span");
  said.className = "said";
  const button = (label, action, value) => {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = label;
    b.onclick = () => order(s.name, action, value(), said);
    box.append(b);
  };
  if (allowed.includes("emcon") && s.link) {
    button("Silence (EMCON)", "emcon", () => true);
    button("End silence", "emcon", () => false);
  }
  const values = { mode: s.link && s.mode, speed: "1",
    frequency: s.radio && s.radio.rig && s.radio.rig.frequency_hz };
  for (const action of ["mode", "speed", "frequency"]) {
    if (!allowed.includes(action) || !values[action]) continue;
    const input = document.createElement("input");
    input.value = values[action];
    input.size = 12;
    input.setAttribute("aria-label", action);
    box.append(input);
    button("Set " + action, action, () => input.value);
  }
  box.append(said);
}

// Scrolls to the newest line, unless the user has scrolled away from it.
function newest(log) {
  if (log.dataset.away !== "yes") log.scrollTop = log.scrollHeight;
}

// Notes scrolling by the user. A change of width also moves lines, and must not count as that.
function follow(log) {
  log.addEventListener("scroll", () => {
    const below = log.scrollHeight - log.scrollTop - log.clientHeight;
    log.dataset.away = below < 30 ? "no" : "yes";
  });
  new ResizeObserver(() => newest(log)).observe(log);
}

function nodeOf(name) {
  if (!views.has(name)) {
    const node = document.querySelector("#station").content.cloneNode(true).firstElementChild;
    node.querySelector("details").open = innerWidth > 600;
    document.querySelector("#stations").append(node);
    follow(node.querySelector(".log"));
    views.set(name, node);
  }
  return views.get(name);
}

function draw(state) {
  text(document, "#about", state.about);
  for (const s of state.stations) {
    const n = nodeOf(s.name), rows = tables(s);
    text(n, ".name", "Station " + s.name);
    text(n, ".phase", phase(s));
    const show = { ".has-spectrum": s.spectrum, ".has-link": s.link, ".has-symbols":
      s.symbols.length || s.spectrum, ".has-queues": rows.queues[1].length, ".has-connections":
      rows.connections[1].length, ".has-flows": rows.flows[1].length };
    for (const [selector, there] of Object.entries(show))
      n.querySelectorAll(selector).forEach(e => { e.hidden = !there; });
    cards(n, s);
    drawing.timeline(n, s);
    if (s.link) drawing.dpdus(n, s);
    drawing.history(n, s, "snr", "snr_db", 10, false);
    drawing.history(n, s, "doppler", "doppler_hz", 0.5, true);
    drawing.history(n, s, "delay", "delay_spread_ms", 1, true);
    drawing.profile(n, s);
    if (show[".has-symbols"]) drawing.constellation(n, s);
    if (s.spectrum) drawing.waterfall(n, s);
    for (const [name, [heads, list]] of Object.entries(rows)) table(n, "." + name, heads, list);
    controls(n, s, state.controls);
    const log = n.querySelector(".log"), lines = s.log.join("\n");
    if (log.textContent !== lines) {
      log.textContent = lines;
      newest(log);
    }
  }
}

document.querySelector("#copy").onclick = async () => {
  if (!latest) return;
  const whole = report(latest);
  try {
    await navigator.clipboard.writeText(whole);
    text(document, "#copy", "Copied");
    setTimeout(() => text(document, "#copy", "Copy as report"), 2000);
  } catch {
    // Not every browser lets a page write to the clipboard. Let the user copy the text.
    const box = document.querySelector("#report");
    box.querySelector("textarea").value = whole;
    box.showModal();
    box.querySelector("textarea").select();
  }
};
document.querySelector("#report button").onclick = () => document.querySelector("#report").close();

const stream = new EventSource("/api/stream");
stream.onmessage = e => {
  latest = JSON.parse(e.data);
  heard = performance.now();
  requestAnimationFrame(() => draw(latest));
};
setInterval(() => {
  const stale = performance.now() - heard > 3000, note = document.querySelector("#fresh");
  note.classList.toggle("stale", stale && heard > 0);
  text(document, "#fresh", !heard ? "waiting for the station" :
    stale ? "the station does not answer" : "live");
}, 500);
