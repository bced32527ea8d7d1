// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the states from /api/stream. Texts from the station are set as text, never as markup.
import * as drawing from "/drawing.js";
import { facts, report, tables } from "/facts.js";
import * as messages from "/messages.js";

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
  for (const box of node.querySelectorAll(".cards")) {
    const list = facts(s).filter(f => f[2] === box.dataset.group);
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
}

//: Time between two sentences for a screen reader, ms. The sentence on the screen changes more often.
const SPEAK_MS = 20000;

function speak(box, sentence) {
  if (performance.now() - (box.dataset.at || -SPEAK_MS) < SPEAK_MS) return;
  if (box.textContent !== sentence) box.dataset.at = performance.now();
  box.textContent = sentence;
}

const ARROWS = { transmitting: "⟶", receiving: "⟵", waiting: "⋯", silent: "⊘", idle: "·" };

// The first screen. All words are made by the station.
function glance(node, g) {
  node.querySelector(".glance").dataset.state = g.state;
  for (const name of ["sentence", "me", "now", "speed", "channel", "waiting", "ready"])
    text(node, "." + name, g[name]);
  text(node, ".peer", g.peer || "nobody yet");
  text(node, ".arrow", ARROWS[g.state]);
  text(node, ".speed-minutes", g.speed_minutes);
  text(node, ".cost", g.cost);
  text(node, ".cost-parts", g.cost_parts);
  node.querySelector(".has-cost").hidden = !g.cost;
  text(node, ".channel-numbers", g.channel_numbers && "(" + g.channel_numbers + ")");
  speak(node.querySelector(".spoken"), g.sentence);
  // Two colours: what has arrived, and what was sent.
  const bars = node.querySelector(".bars");
  bars.hidden = g.share === null;
  if (g.share !== null) [bars.querySelector(".share").value, bars.querySelector(".sent").value] = [g.share, g.share_sent];
  const box = node.querySelector(".problems"), key = JSON.stringify(g.problems.map(p => p.what));
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(...g.problems.map(p => {
    const li = document.createElement("li"), what = document.createElement("b");
    what.textContent = p.what;
    li.append(what, p.remedy);
    return li;
  }));
}

// One tab for each panel of a station. Arrow keys move between them.
function tabs(node, name) {
  const bar = node.querySelector(".tabs"), panels = [...node.querySelectorAll(".panel")];
  const choose = k => panels.forEach((panel, i) => {
    bar.children[i].setAttribute("aria-selected", i === k);
    bar.children[i].tabIndex = i === k ? 0 : -1;
    panel.classList.toggle("chosen", i === k);
  });
  panels.forEach((panel, k) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.textContent = panel.dataset.title;
    tab.id = "tab-" + name + "-" + k;
    panel.id = "panel-" + name + "-" + k;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.onclick = () => { choose(k); if (latest) draw(latest); };
    bar.append(tab);
  });
  bar.onkeydown = e => {
    const shown = [...bar.children].filter(t => !t.hidden), at = shown.indexOf(document.activeElement);
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!by || at < 0) return;
    const next = shown[(at + by + shown.length) % shown.length];
    next.focus();
    next.click();
  };
  choose(0);
}

// Hides what a station does not have, with the tab of a panel.
function show(node, selector, there) {
  node.querySelectorAll(selector).forEach(e => {
    e.hidden = !there;
    if (e.id) node.querySelector("#" + CSS.escape("tab" + e.id.slice(5))).hidden = !there;
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
  const said = node.querySelector(".has-controls .said");
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
  if (allowed.includes("net") && s.link) button("Ask the net", "net", () => true);
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

// The button that plays what the station hears. Each time it starts with what is heard now.
function listen(node, name) {
  const button = node.querySelector(".listen");
  let sound = null;
  const stop = () => {
    if (sound) sound.src = "";
    sound = null;
    button.textContent = "Listen";
    button.setAttribute("aria-pressed", "false");
  };
  button.onclick = () => {
    if (sound) return stop();
    sound = new Audio("/api/audio?station=" + encodeURIComponent(name));
    const mine = sound;
    sound.onerror = sound.onended = () => sound === mine && stop();
    sound.play().catch(() => sound === mine && stop());
    button.textContent = "Stop listening";
    button.setAttribute("aria-pressed", "true");
  };
}

function nodeOf(name) {
  if (!views.has(name)) {
    const node = document.querySelector("#station").content.cloneNode(true).firstElementChild;
    document.querySelector("#stations").append(node);
    tabs(node, name);
    messages.start(node, name, token);
    listen(node, name);
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
    glance(n, s.glance);
    const can = token ? state.controls : [];
    for (const [selector, there] of Object.entries({ ".has-spectrum": s.spectrum, ".listen": s.audible,
      ".has-link": s.link, ".has-ale": s.ale && s.ale.quality.length, ".has-symbols": s.symbols.length || s.spectrum,
      ".has-queues": rows.queues[1].length, ".has-proofs": rows.proofs[1].length, ".has-flows-tab": s.connections || s.flows || rows.attached[1].length, ".has-attached": rows.attached[1].length,
      ".has-net": rows.net[1].length, ".has-radio": s.radio, ".has-messages": s.link && can.includes("messages"),
      ".has-controls": can.length })) show(n, selector, there);
    messages.allow(n, can, s.link && s.link.peer);
    cards(n, s);
    drawing.timeline(n, s);
    if (s.link) drawing.dpdus(n, s);
    drawing.history(n, s, "snr", "snr_db", 10, false);
    drawing.history(n, s, "doppler", "doppler_hz", 0.5, true);
    drawing.history(n, s, "delay", "delay_spread_ms", 1, true);
    drawing.profile(n, s);
    drawing.constellation(n, s);
    if (s.spectrum) {
      drawing.waterfall(n, s);
      drawing.bursts(n, s);
    }
    for (const [name, [heads, list]] of Object.entries(rows))
      table(n, "table." + name, heads, list);
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
  // What is shown is of the past: "Idle" would be wrong of a program that has ended.
  document.querySelector("#stations").classList.toggle("past", stale && heard > 0);
  if (stale && heard) for (const box of document.querySelectorAll(".sentence"))
    box.textContent = "No news for " + Math.round((performance.now() - heard) / 1000) + " s: does hf run still run?";
  text(document, "#fresh", !heard ? "waiting for the station" :
    stale ? "the station does not answer" : "live");
}, 500);
