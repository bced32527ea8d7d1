// SPDX-License-Identifier: GPL-3.0-or-later
// Draws what /api/stream tells. Texts from the station are set as text, never as markup.
const ink = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const views = new Map();
let latest = null, heard = 0;
const token = location.hash.slice(1);

function text(parent, selector, value) {
  const e = parent.querySelector(selector);
  if (e.textContent !== value) e.textContent = value;
}
const number = (x, digits = 1) => (x === null || x === undefined ? "–" : x.toFixed(digits));
const octets = n => n >= 1e6 ? (n / 1e6).toFixed(2) + " MB" : n >= 1e4 ? (n / 1e3).toFixed(1) + " kB"
  : n + " octets";

// A canvas at the screen's own resolution.
function canvas(view, name) {
  const c = view.node.querySelector("canvas." + name);
  const ratio = devicePixelRatio || 1, w = c.clientWidth, h = +c.getAttribute("height");
  if (!w) return null;
  if (!c.dataset.h) c.dataset.h = h;
  const height = +c.dataset.h;
  if (c.width !== Math.round(w * ratio)) {
    c.width = Math.round(w * ratio);
    c.height = Math.round(height * ratio);
    c.style.height = height + "px";
  }
  const g = c.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, height);
  g.font = "11px system-ui, sans-serif";
  return { g, w, h: height };
}

function timeline(view, s) {
  const p = canvas(view, "timeline");
  if (!p) return;
  const { g, w, h } = p, now = s.modem ? s.modem.now : s.link.now, span = 120;
  const x = t => (t - (now - span)) / span * w;
  g.fillStyle = ink("--grid");
  g.strokeStyle = ink("--grid");
  for (let t = Math.ceil((now - span) / 20) * 20; t <= now; t += 20) {
    g.fillRect(x(t), 0, 1, h - 14);
    g.fillStyle = ink("--soft");
    g.textAlign = x(t) < 14 ? "left" : x(t) > w - 14 ? "right" : "center";
    g.fillText(t.toFixed(0), x(t), h - 2);
    g.fillStyle = ink("--grid");
  }
  for (const b of s.spans) {
    const end = b.end === null ? now : b.end;
    if (end < now - span) continue;
    const lost = b.kind === "rx" && b.reason === "lost";
    g.fillStyle = ink(b.kind === "tx" ? "--tx" : lost ? "--bad" : "--rx");
    const left = Math.max(0, x(b.begin)), y = b.kind === "tx" ? 4 : 26;
    const wide = Math.max(2, x(end) - left);
    g.fillRect(left, y, wide, 18);
    if (g.measureText(b.mode).width < wide - 6) {
      g.fillStyle = ink("--card");
      g.textAlign = "left";
      g.fillText(b.mode, left + 3, y + 13);
    }
  }
}

function axis(p, low, high, unit) {
  const { g, w, h } = p, step = (high - low) / 4;
  const y = v => h - 4 - (v - low) / (high - low) * (h - 16);
  for (let k = 0; k <= 4; ++k) {
    g.fillStyle = ink("--grid");
    g.fillRect(30, y(low + k * step), w - 30, 1);
    g.fillStyle = ink("--soft");
    g.textAlign = "right";
    g.fillText((low + k * step).toFixed(unit), 26, y(low + k * step) + 4);
  }
  return y;
}

function snr(view, s) {
  const p = canvas(view, "snr");
  if (!p) return;
  const values = s.blocks.filter(b => b.snr_db !== null).slice(-120);
  if (!values.length) return empty(p, "nothing received yet");
  const all = values.map(b => b.snr_db);
  const low = Math.floor(Math.min(...all) / 5) * 5 - 5, high = Math.ceil(Math.max(...all) / 5) * 5 + 5;
  const y = axis(p, low, high, 0);
  values.forEach((b, k) => {
    p.g.fillStyle = ink(b.quality !== null && b.quality < 0.5 ? "--bad" : "--rx");
    const x = 34 + (p.w - 40) * (values.length === 1 ? 1 : k / (values.length - 1));
    p.g.fillRect(x - 2, y(b.snr_db) - 2, 4, 4);
  });
}

function profile(view, s) {
  const p = canvas(view, "profile");
  if (!p) return;
  if (!s.profile.length) return empty(p, "not known yet");
  // Steps of half a symbol.
  const step = 1000 / (s.sample_rate ? s.sample_rate / 2 : 4800), high = Math.max(...s.profile);
  const wide = (p.w - 10) / s.profile.length;
  p.g.fillStyle = ink("--rx");
  s.profile.forEach((v, k) => p.g.fillRect(5 + k * wide, p.h - 16 - v / high * (p.h - 24),
    Math.max(1, wide - 1), Math.max(v > 0 ? 2 : 0, v / high * (p.h - 24))));
  p.g.fillStyle = ink("--soft");
  p.g.textAlign = "center";
  for (let ms = 0; ms < s.profile.length * step; ms += 2)
    p.g.fillText(ms, Math.max(8, 5 + ms / step * wide), p.h - 3);
}

function constellation(view, s) {
  const p = canvas(view, "symbols");
  if (!p) return;
  const { g, w, h } = p, scale = (h / 2 - 4) / 1.6;
  g.fillStyle = ink("--grid");
  g.fillRect(w / 2, 0, 1, h);
  g.fillRect(0, h / 2, w, 1);
  g.strokeStyle = ink("--grid");
  g.beginPath();
  g.arc(w / 2, h / 2, scale, 0, 2 * Math.PI);
  g.stroke();
  g.fillStyle = ink("--rx");
  for (const [i, q] of s.symbols)
    g.fillRect(w / 2 + scale * i - 1, h / 2 - scale * q - 1, 2, 2);
}

function empty(p, why) {
  p.g.fillStyle = ink("--soft");
  p.g.textAlign = "center";
  p.g.fillText(why, p.w / 2, p.h / 2);
}

function waterfall(view, s) {
  const c = view.node.querySelector("canvas.waterfall");
  const w = s.spectrum.length, h = 136;
  if (c.width !== w) { c.width = w; c.height = h; c.style.height = h + "px"; }
  const g = c.getContext("2d");
  g.drawImage(c, 0, 0, w, h - 1, 0, 1, w, h - 1);
  const sorted = [...s.spectrum].sort((a, b) => a - b);
  const floor = sorted[Math.floor(w / 10)], top = Math.max(floor + 30, sorted[w - 1]);
  const row = g.createImageData(w, 1);
  s.spectrum.forEach((v, k) => {
    const x = Math.max(0, Math.min(1, (v - floor) / (top - floor)));
    row.data.set([255 * Math.min(1, 1.8 * x), 255 * x * x, 255 * (0.25 + 0.5 * x * (1 - x)), 255],
      4 * k);
  });
  g.putImageData(row, 0, 0);
  const half = s.sample_rate / 2;
  text(view.node, ".scale .low", (-half).toFixed(0));
  text(view.node, ".scale .high", half.toFixed(0));
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

function cards(view, s) {
  const list = [], last = s.blocks[s.blocks.length - 1] || {};
  const add = (what, value) => list.push([what, value]);
  const now = s.modem ? s.modem.now : s.link ? s.link.now : 0;
  add("station time", number(now, 0) + " s");
  if (s.link) {
    add("peer", s.link.peer || "none yet");
    add("transmits in", s.link.tx_mode || s.mode);
    add("because", s.link.tx_reason);
    add("hears", s.link.rx_mode || "–");
    add("to send", octets(s.link.queued_octets));
    add("unacknowledged", String(s.link.unacknowledged));
    add("links, clients", s.link.links + ", " + s.link.clients);
  }
  if (s.modem) add("sent, received", octets(s.modem.octets_sent) + ", " + octets(s.modem.octets_received));
  add("SNR", number(last.snr_db) + " dB");
  add("Doppler spread", number(last.doppler_hz, 2) + " Hz");
  add("delay spread", number(last.delay_spread_ms, 2) + " ms");
  add("offset", number(last.freq_offset_hz) + " Hz");
  add("bits corrected", last.coded_ber === undefined ? "–" : number(100 * last.coded_ber, 2) + " %");
  if (s.radio) {
    const r = s.radio.source;
    if (r) add("audio peak", number(r.peak_db) + " dB");
    if (r) add("samples clipped", String(r.clipped));
    const heard = s.radio.capture, spoken = s.radio.playback;
    if (heard) {
      add("samples lost", heard.lost + (heard.open ? "" : ", device lost"));
      add("device clock", heard.drift_ppm ? number(heard.drift_ppm, 0) + " ppm" : "not known yet");
    }
    if (spoken) add("playback ran empty", spoken.underruns + " times" + (spoken.open ? "" : ", device lost"));
    if (s.radio.turnaround_ms !== undefined)
      add("turnaround beyond lead and decoder", number(s.radio.turnaround_ms, 0) + " ms");
    if (s.radio.rig) add("rig", s.radio.rig.text);
    if (s.radio.key) add("key", (s.radio.key.down ? "down" : "up") +
      (s.radio.key.latency_ms === null ? "" : ", " + number(s.radio.key.latency_ms, 0) + " ms"));
  }
  const box = view.node.querySelector(".cards");
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

function controls(view, s, allowed) {
  const box = view.node.querySelector(".controls");
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
    button("End of silence", "emcon", () => false);
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

function draw(state) {
  text(document, "#about", state.about);
  const main = document.querySelector("#stations");
  for (const s of state.stations) {
    let view = views.get(s.name);
    if (!view) {
      const node = document.querySelector("#station").content.cloneNode(true).firstElementChild;
      main.append(node);
      view = { node };
      views.set(s.name, view);
    }
    const n = view.node;
    text(n, ".name", "Station " + s.name);
    text(n, ".phase", s.link ? s.link.phase.replace("_", " ") + (s.link.emcon ? ", EMCON" : "") : "");
    n.querySelector(".has-spectrum").hidden = !s.spectrum;
    n.querySelector(".has-symbols").hidden = !s.symbols.length;
    n.querySelector(".has-connections").hidden = !s.connections;
    cards(view, s);
    timeline(view, s);
    snr(view, s);
    profile(view, s);
    if (s.symbols.length) constellation(view, s);
    if (s.spectrum) waterfall(view, s);
    table(n, ".dpdus", ["type", "sent ", "received "], (s.d_pdus || []).map(d =>
      [d.type + " " + d.name, d.sent, d.received]));
    const queues = s.link ? s.link.queues : [];
    n.querySelector(".has-queues").hidden = !queues.length;
    table(n, ".queues", ["priority", "U_PDUs ", "octets ", "oldest, s "], queues.map(q =>
      [String(q.priority), q.u_pdus, q.octets, Math.round(q.oldest_s)]));
    table(n, ".connections", ["to", "state", "out ", "in "], (s.connections || []).map(c =>
      [c.to, c.state, c.octets_out, c.octets_in]));
    table(n, ".counters", ["what", "count "], Object.entries(s.counters || {}).map(([k, v]) =>
      [k.replaceAll("_", " "), v]));
    controls(view, s, state.controls);
    const log = n.querySelector(".log"), lines = s.log.join("\n");
    if (log.textContent !== lines) {
      const follow = log.scrollHeight - log.scrollTop - log.clientHeight < 30;
      log.textContent = lines;
      if (follow) log.scrollTop = log.scrollHeight;
    }
  }
}

document.querySelector("#copy").onclick = async () => {
  const report = JSON.stringify(latest, null, 1);
  try {
    await navigator.clipboard.writeText(report);
    text(document, "#copy", "Copied");
  } catch {
    text(document, "#copy", "The browser forbids it");
  }
  setTimeout(() => text(document, "#copy", "Copy as report"), 2000);
};

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
