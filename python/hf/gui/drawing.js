// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a station on canvases. Texts from the station are drawn, never used as markup.
const ink = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

//: Length of the timelines, s of station time.
const SPAN_S = 120;
//: Blocks in a history.
const MAX_BLOCKS = 120;
//: Width of the axis labels at the left, pixels.
const LEFT = 40;

// A canvas at the screen's own resolution.
function canvas(node, name) {
  const c = node.querySelector("canvas." + name);
  const ratio = devicePixelRatio || 1, w = c.clientWidth;
  if (!w) return null;
  if (!c.dataset.h) c.dataset.h = c.getAttribute("height");
  const height = +c.dataset.h;
  if (c.width !== Math.round(w * ratio) || c.height !== Math.round(height * ratio)) {
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

function empty(p, why) {
  p.g.fillStyle = ink("--soft");
  p.g.textAlign = "center";
  p.g.fillText(why, p.w / 2, p.h / 2);
}

// Stripes over a bar, so that it differs by more than its colour.
function stripes(g, x, y, w, h) {
  if (w < 2 || h < 2) return;
  g.save();
  g.beginPath();
  g.rect(x, y, w, h);
  g.clip();
  g.strokeStyle = ink("--card");
  g.lineWidth = 1;
  g.beginPath();
  for (let k = -h; k < w; k += 5) {
    g.moveTo(x + k, y + h);
    g.lineTo(x + k + h, y);
  }
  g.stroke();
  g.restore();
}

// Outline of a bar, for D_PDUs that cost no time on the air.
function hollow(g, x, y, w, h, colour) {
  if (h <= 0) return;
  g.strokeStyle = ink(colour);
  g.lineWidth = 1;
  g.strokeRect(x + 0.5, y + 0.5, Math.max(0, w - 1), Math.max(0, h - 1));
}

export const nowOf = s => s.modem ? s.modem.now : s.link ? s.link.now : 0;

// Draws the time axis. Returns the function from station time to x.
function times(p, now) {
  const { g, w, h } = p, left = now - SPAN_S;
  const x = t => LEFT + (t - left) / SPAN_S * (w - LEFT);
  for (let t = Math.ceil(left / 20) * 20; t <= now; t += 20) {
    g.fillStyle = ink("--grid");
    g.fillRect(x(t), 0, 1, h - 14);
    g.fillStyle = ink("--soft");
    g.textAlign = x(t) > w - 14 ? "right" : "center";
    if (t >= 0) g.fillText(t.toFixed(0), x(t), h - 2);
  }
  return x;
}

export function timeline(node, s) {
  const p = canvas(node, "timeline");
  if (!p) return;
  const { g } = p, now = nowOf(s), x = times(p, now);
  g.textAlign = "right";
  g.fillStyle = ink("--soft");
  g.fillText("TX", LEFT - 4, 17);
  g.fillText("RX", LEFT - 4, 39);
  for (const b of s.spans) {
    const end = b.end === null ? now : b.end;
    if (end < now - SPAN_S) continue;
    const lost = b.kind === "rx" && b.reason === "lost";
    g.fillStyle = ink(b.kind === "tx" ? "--tx" : lost ? "--bad" : "--rx");
    const left = Math.max(LEFT, x(b.begin)), y = b.kind === "tx" ? 4 : 26;
    const wide = Math.max(2, x(end) - left);
    g.fillRect(left, y, wide, 18);
    if (lost) stripes(g, left, y, wide, 18);
    if (!lost && g.measureText(b.mode).width < wide - 6) {
      g.fillStyle = ink("--card");
      g.textAlign = "left";
      g.fillText(b.mode, left + 3, y + 13);
    }
  }
}

// D_PDUs in bins of time: sent above the line, received below it.
export function dpdus(node, s) {
  const p = canvas(node, "dpdu-times");
  if (!p) return;
  const { g, w, h } = p, now = nowOf(s), x = times(p, now), middle = (h - 14) / 2;
  const bins = (s.d_pdu_bins || []).filter(b => b[0] + s.d_pdu_bin_s > now - SPAN_S);
  const most = Math.max(4, ...bins.map(b => Math.max(b[1] + b[2] + b[3], b[4] + b[5])));
  const high = n => n / most * (middle - 4);
  g.fillStyle = ink("--soft");
  g.textAlign = "right";
  g.fillText(most.toFixed(0), LEFT - 4, 10);
  g.fillText("0", LEFT - 4, middle + 4);
  g.fillText(most.toFixed(0), LEFT - 4, h - 16);
  g.fillStyle = ink("--line");
  g.fillRect(LEFT, middle, w - LEFT, 1);
  for (const [begin, fresh, again, fill, whole, lost] of bins) {
    const left = Math.max(LEFT, x(begin)), wide = Math.max(1, x(begin + s.d_pdu_bin_s) - left - 2);
    const bar = (y, tall, colour, striped) => {
      g.fillStyle = ink(colour);
      g.fillRect(left, y, wide, tall);
      if (striped) stripes(g, left, y, wide, tall);
    };
    bar(middle - high(fresh), high(fresh), "--tx", false);
    bar(middle - high(fresh + again), high(again), "--again", true);
    hollow(g, left, middle - high(fresh + again + fill), wide, high(fill), "--tx");
    bar(middle + 1, high(whole), "--rx", false);
    bar(middle + 1 + high(whole), high(lost), "--bad", true);
  }
}

// Smallest step of 1, 2, 5, 10 and so on that divides the span into at most four.
function step(span) {
  const ten = 10 ** Math.floor(Math.log10(span / 4));
  return ten * [1, 2, 5, 10].find(k => ten * k >= span / 4 - 1e-9);
}

// One quantity for each block, newest at the right. least: minimum span of the axis. zero: the
// axis starts at 0.
export function history(node, s, name, key, least, zero) {
  const p = canvas(node, name);
  if (!p) return;
  const blocks = s.blocks.slice(-MAX_BLOCKS), known = b => typeof b[key] === "number";
  const all = blocks.filter(known).map(b => b[key]);
  if (!all.length) return empty(p, "not measured yet");
  const { g, w, h } = p, top = Math.max(...all), bottom = zero ? 0 : Math.min(...all);
  const more = Math.max(0, least - (top - bottom)) / 2;
  const each = step(zero ? Math.max(top, least) : top - bottom + 2 * more);
  const low = zero ? 0 : Math.floor((bottom - more) / each) * each;
  const high = Math.max(low + each, Math.ceil((zero ? Math.max(top, least) : top + more) / each) * each);
  const y = v => h - 6 - (v - low) / (high - low) * (h - 16);
  const digits = Math.max(0, -Math.floor(Math.log10(each) + 1e-9));
  g.textAlign = "right";
  for (let k = 0; low + k * each <= high + each / 2; ++k) {
    g.fillStyle = ink("--grid");
    g.fillRect(LEFT, y(low + k * each), w - LEFT, 1);
    g.fillStyle = ink("--soft");
    g.fillText((low + k * each).toFixed(digits), LEFT - 4, y(low + k * each) + 4);
  }
  const apart = (w - LEFT - 8) / (MAX_BLOCKS - 1);
  blocks.forEach((b, k) => {
    if (!known(b)) return;
    const poor = b.quality !== null && b.quality < 0.5;
    const x = w - 4 - (blocks.length - 1 - k) * apart;
    g.fillStyle = ink(poor ? "--bad" : "--rx");
    if (poor) g.fillRect(x - 1, y(b[key]) - 4, 2, 8);
    g.fillRect(x - 2, y(b[key]) - 2, 4, 4);
  });
}

export function profile(node, s) {
  const p = canvas(node, "profile");
  if (!p) return;
  if (!s.profile.length) return empty(p, "nothing received yet");
  // Steps of half a symbol.
  const each = 1000 / (s.sample_rate ? s.sample_rate / 2 : 4800), high = Math.max(...s.profile);
  const wide = (p.w - 10) / s.profile.length;
  p.g.fillStyle = ink("--grid");
  p.g.fillRect(5, p.h - 15, p.w - 10, 1);
  p.g.fillStyle = ink("--rx");
  s.profile.forEach((v, k) => p.g.fillRect(5 + k * wide, p.h - 15 - v / high * (p.h - 23),
    Math.max(1, wide - 1), Math.max(v > 0 ? 2 : 0, v / high * (p.h - 23))));
  p.g.fillStyle = ink("--soft");
  p.g.textAlign = "center";
  const all = s.profile.length * each, by = step(all);
  for (let k = 0; k * by < all; ++k)
    p.g.fillText(+(k * by).toFixed(3), Math.max(8, 5 + k * by / each * wide), p.h - 3);
}

export function constellation(node, s) {
  const p = canvas(node, "symbols");
  if (!p) return;
  const { g, w, h } = p, scale = (h / 2 - 4) / 1.6;
  g.fillStyle = ink("--grid");
  g.fillRect(w / 2, 0, 1, h);
  g.fillRect(0, h / 2, w, 1);
  g.strokeStyle = ink("--grid");
  g.beginPath();
  g.arc(w / 2, h / 2, scale, 0, 2 * Math.PI);
  g.stroke();
  if (!s.symbols.length) return empty(p, "nothing received yet");
  g.fillStyle = ink("--rx");
  for (const [i, q] of s.symbols)
    g.fillRect(w / 2 + scale * i - 1, h / 2 - scale * q - 1, 2, 2);
}

//: Most rows of a waterfall, one for each state: a minute.
const MAX_ROWS = 120;

// Fills its place from the first row on: a canvas with few rows is stretched.
export function waterfall(node, s) {
  const c = node.querySelector("canvas.waterfall"), w = s.spectrum.length;
  const g = c.getContext("2d");
  const sorted = [...s.spectrum].sort((a, b) => a - b);
  const floor = sorted[Math.floor(w / 10)], top = Math.max(floor + 30, sorted[w - 1]);
  const row = g.createImageData(w, 1);
  s.spectrum.forEach((v, k) => {
    const x = Math.max(0, Math.min(1, (v - floor) / (top - floor)));
    row.data.set([255 * Math.min(1, 1.8 * x), 255 * x * x, 255 * (0.25 + 0.5 * x * (1 - x)), 255],
      4 * k);
  });
  c.rows = [row, ...c.rows || []].slice(0, MAX_ROWS);
  c.times = [nowOf(s), ...c.times || []].slice(0, MAX_ROWS);
  c.width = w;
  c.height = c.rows.length;
  c.rows.forEach((r, k) => g.putImageData(r, 0, k));
  const half = s.sample_rate / 2;
  node.querySelector(".scale .low").textContent = (-half).toFixed(0);
  node.querySelector(".scale .high").textContent = half.toFixed(0);
}

// The mode of each transmission and reception beside its rows of the waterfall.
export function bursts(node, s) {
  const times = node.querySelector("canvas.waterfall").times || [], p = canvas(node, "bursts");
  if (!p || !times.length) return;
  const { g, h } = p, rows = times.length;
  const y = t => {
    const older = times.findIndex(u => u <= t);
    return (older < 0 ? rows : older) / rows * h;
  };
  g.textAlign = "left";
  for (const b of s.spans) {
    if (b.end !== null && b.end < times[rows - 1]) continue;
    const lost = b.kind === "rx" && b.reason === "lost";
    const top = b.end === null ? 0 : y(b.end), tall = Math.max(2, y(b.begin) - top);
    g.fillStyle = ink(b.kind === "tx" ? "--tx" : lost ? "--bad" : "--rx");
    g.fillRect(0, top, 5, tall);
    if (lost) stripes(g, 0, top, 5, tall);
    if (tall < 11) continue;
    const text = b.mode + (lost ? ", lost" : "");
    g.fillRect(5, top, g.measureText(text).width + 8, 13);
    g.fillStyle = ink("--card");
    g.fillText(text, 9, top + 10);
  }
}
