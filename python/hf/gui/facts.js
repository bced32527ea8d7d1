// SPDX-License-Identifier: GPL-3.0-or-later
// Values of a station as text for its cards, its tables, and the report.
import { nowOf } from "/drawing.js";

const number = (x, digits = 1) => (x === null || x === undefined ? "–" :
  x.toFixed(digits).replace(/^-(?=[0.]+$)/, ""));
const octets = n => n >= 1e6 ? (n / 1e6).toFixed(2) + " MB" : n >= 1e4 ? (n / 1e3).toFixed(1) + " kB"
  : n + " octets";

// Adds the facts of a station's radio.
function radio(r, add) {
  const source = r.source, heard = r.capture, spoken = r.playback;
  if (source) add("received level", number(source.peak_db) + " dB, " + r.level.replace("too loud", "TOO LOUD"));
  if (source) add("samples clipped", String(source.clipped));
  if (heard) {
    add("samples lost", heard.lost + (heard.open ? "" : ", device lost"));
    add("device clock", heard.drift_ppm ? number(heard.drift_ppm, 0) + " ppm" : "not known yet");
  }
  if (spoken)
    add("playback ran empty", spoken.underruns + " times" + (spoken.open ? "" : ", device lost"));
  if (r.turnaround_ms !== undefined)
    add("turnaround beyond lead and decoder", number(r.turnaround_ms, 0) + " ms" +
      (spoken && spoken.added_ms > 0 ? ", " + number(spoken.added_ms, 0) + " ms for stalls" : ""));
  if (r.rig) add("rig", r.rig.text);
  if (r.key) add("key", (r.key.down ? "down" : "up") +
    (r.key.latency_ms === null ? "" : ", " + number(r.key.latency_ms, 0) + " ms"));
}

// The facts of a station: triples of a name, a value with its unit, and the tab that shows it.
export function facts(s) {
  const list = [], last = s.blocks[s.blocks.length - 1] || {};
  let group = "link";
  const add = (what, value) => list.push([what, value, group]);
  add("station time", number(nowOf(s), 0) + " s");
  if (s.link) {
    add("peer", s.link.peer || "none yet");
    add("transmits in", s.link.tx_mode || s.mode);
    add("reason for this mode", s.link.tx_reason);
    add("receives in", s.link.rx_mode || "–");
    add("to send", octets(s.link.queued_octets));
    add("unacknowledged", s.link.unacknowledged + " D_PDUs");
    add("links, clients", s.link.links + ", " + s.link.clients);
  }
  if (s.modem)
    add("sent, received", octets(s.modem.octets_sent) + ", " + octets(s.modem.octets_received));
  group = "air";
  add("SNR in 3 kHz", number(last.snr_db) + " dB");
  add("Doppler spread", number(last.doppler_hz, 2) + " Hz");
  add("delay spread", number(last.delay_spread_ms, 2) + " ms");
  add("frequency offset", number(last.freq_offset_hz) + " Hz");
  add("bits corrected", typeof last.coded_ber === "number" ? number(100 * last.coded_ber, 2) + " %"
    : "–");
  if (s.ale) add("ALE links, calls without one", s.ale.links + ", " + s.ale.failures);
  group = "radio";
  if (s.radio) radio(s.radio, add);
  return list;
}

export const phase = s => s.link ? s.link.phase.replace("_", " ") + (s.link.emcon ? ", EMCON" : "")
  : "";

// Tables of a station by CSS class: heads (a trailing blank marks numbers) and rows.
export function tables(s) {
  return {
    dpdus: [["type", "sent ", "received "],
      (s.d_pdus || []).map(d => [d.type + " " + d.name, d.sent, d.received])],
    lqa: [["ALE peer", "channel ", "SNR, dB ", "age, s "],
      (s.ale ? s.ale.quality : []).map(q => [q.peer, q.channel, Math.round(q.snr_db), q.age_s])],
    queues: [["priority", "U_PDUs ", "octets ", "oldest, s "],
      (s.link ? s.link.queues : []).map(q =>
        [String(q.priority), q.u_pdus, q.octets, Math.round(q.oldest_s)])],
    proofs: [["station", "proved ", "not proved ", "refused ", "last"],
      (s.link ? s.link.proofs : []).map(p =>
        [p.peer, p.proved, p.not_proved, p.refused, p.last])],
    net: [["station", "hears us, dB ", "we hear it, dB ", "links ", "queue, octets ", "version"],
      (s.net || []).map(n => [n.node, ...[n.hears_us, n.we_hear].map(q => q ? Math.round(q[0]) : "–"),
        ...[n.links, n.queue, n.version].map(v => v === null ? "–" : v)])],
    connections: [["to", "state", "octets out ", "in "],
      (s.connections || []).map(c => [c.to, c.state, c.octets_out, c.octets_in])],
    attached: [["service", "program or server", "state"],
      (s.attached || []).map(a => [a.service, a.who, a.state])],
    flows: [["IP flow", "packets ", "octets ", "oldest, s "],
      (s.flows || []).map(f => [f.protocol === "several" ? "several flows" :
        f.protocol + " " + f.src + " → " + f.dst, f.packets, f.octets,
        Math.round(f.oldest_s)])],
    counters: [["what", "count "],
      Object.entries(s.counters || {}).map(([k, v]) => [k.replaceAll("_", " "), v])],
  };
}

const TITLES = { dpdus: "D_PDUs", queues: "Waiting, by priority", proofs: "Who has proved itself",
  net: "Stations that answered",
  connections: "TCP connections of HF-PEP", attached: "Programs and servers", flows: "Waiting in the IP client", counters: "Counters" };

// The report: Markdown for people, followed by all values as JSON for programs.
export function report(state) {
  const lines = ["# HF data station", "", state.about + ", " +
    new Date(1000 * state.at).toISOString(), ""];
  const table = (heads, rows) => {
    const row = cells => "| " + cells.join(" | ") + " |";
    lines.push(row(heads.map(h => h.trim())), row(heads.map(h => h.endsWith(" ") ? "---:" : "---")),
      ...rows.map(row), "");
  };
  for (const s of state.stations) {
    lines.push("## Station " + s.name + (s.link ? ": " + phase(s) : ""), "");
    if (s.glance) {
      lines.push(s.glance.sentence, "");
      for (const p of s.glance.problems) lines.push("- " + p.what + " " + p.remedy, "");
    }
    table(["what", "value"], facts(s).map(f => f.slice(0, 2)));
    for (const [name, [heads, rows]] of Object.entries(tables(s)))
      if (rows.length) {
        lines.push("### " + TITLES[name], "");
        table(heads, rows);
      }
    lines.push("### Events", "", "```", ...s.log, "```", "");
  }
  lines.push("## All values", "", "```json", JSON.stringify(state), "```", "");
  return lines.join("\n");
}
