// SPDX-License-Identifier: GPL-3.0-or-later
// Chat, files and mail of a station. Only with --control. Texts of others are set as text, never as markup.
const WORDS = { waiting: "waiting for its turn", asking: "asks whether the station reads more than ASCII",
  sending: "on its way", delivered: "delivered",
  received: "", sent: "sent, without acknowledgement" };
const KINDS = { chat: "", file: "File " };

const time = at => new Date(1000 * at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const age = s => s < 120 ? s + " s" : s < 7200 ? Math.round(s / 60) + " min" :
  s < 172800 ? Math.round(s / 3600) + " h" : Math.round(s / 86400) + " d";
const size = n => n >= 1e4 ? (n / 1e3).toFixed(0) + " kB" : n + " octets";

// A mail that waits (with age_s) or that has left (with at).
function mailLine(m) {
  const li = document.createElement("li"), small = document.createElement("small");
  const waits = "age_s" in m;
  const failed = !waits && m.state.startsWith("not delivered");
  li.className = (waits || m.way === "out" ? "out" : "in") + (failed ? " failed" : "");
  small.textContent = (waits ? [m.state, size(m.octets), "for " + age(m.age_s), m.way, m.id] :
    [m.state, time(m.at), size(m.octets), (m.way === "out" ? "to " : "from ") + (m.node || "this gateway")])
    .join(", ");
  li.append(small, (m.sender || "bounce") + " to " + m.recipients.join(", "));
  if (m.error) {
    const why = document.createElement("em");
    why.textContent = m.error;
    li.append(why);
  }
  return li;
}

// Starts the messages of a station's node. token: of the page, empty without control.
export function start(node, name, token) {
  const panel = node.querySelector(".has-messages"), said = panel.querySelector(".said");
  const open = panel.querySelector(".open"), chat = panel.querySelector("form.chat");
  const file = panel.querySelector("form.file"), mail = panel.querySelector("form.mail");
  const headers = { "X-HF-Token": token }, station = encodeURIComponent(name);
  let isOpen = null, shown = "";

  const post = (path, body, place = said) => fetch(path, { method: "POST", headers, body })
    .then(async r => { place.textContent = r.ok ? "" : (await r.text()).trim(); return r.ok; })
    .catch(() => { place.textContent = "the station does not answer"; return false; })
    .finally(refresh);
  const order = (action, value, place) =>
    post("/api/control", JSON.stringify({ station: name, action, value }), place);

  function line(m) {
    const li = document.createElement("li"), small = document.createElement("small");
    const state = m.state in WORDS ? WORDS[m.state] : m.state;
    li.className = m.way + (m.state in WORDS ? "" : " failed");
    small.textContent = time(m.at) + (m.way === "out" ? " to " : " from ") + m.name +
      (m.octets ? ", " + size(m.octets) : "") + (state ? ": " + state : "") +
      (m.state === "sending" && m.octets_done ? ", " + size(m.octets_done) + " confirmed" : "");
    li.append(small, KINDS[m.kind] + m.text);
    return li;
  }

  function draw(state) {
    if (isOpen !== state.open) {
      isOpen = state.open;
      open.textContent = isOpen ? "Close messages" : "Open messages";
      for (const e of [...chat.elements, ...file.elements]) e.disabled = !isOpen;
    }
    if (state.failure && !isOpen) said.textContent = state.failure;
    drawMail(state.mail);
    const key = JSON.stringify(state.list);
    if (key === shown) return;
    shown = key;
    const box = panel.querySelector(".conversation");
    box.replaceChildren(...state.list.map(line));
    box.scrollTop = box.scrollHeight;
  }

  function drawMail(state) {
    panel.querySelector(".has-mail").hidden = !state;
    if (!state) return;
    const { sender, to } = mail.elements;
    if (state.sender && !sender.value && !sender.dataset.proposed) {
      sender.value = state.sender;
      sender.dataset.proposed = "yes";
    }
    to.placeholder = state.domains.length ? "name@" + state.domains[0].replace(/^\.|^\*$/, "") : "";
    panel.querySelector(".mails").replaceChildren(...state.waiting.map(mailLine),
      ...state.done.map(mailLine));
    panel.querySelector(".more").textContent = state.more ? `${state.more} more wait: hf mail list` :
      state.waiting.length + state.done.length ? "" : "No mail waits, and none has left since the start.";
  }

  function refresh() {
    if (panel.hidden || !panel.classList.contains("chosen")) return Promise.resolve();
    return fetch("/api/messages?station=" + station, { headers })
      .then(r => r.ok ? r.json().then(draw) : null).catch(() => null);
  }

  open.onclick = () => order("messages", !isOpen);
  chat.onsubmit = async e => {
    e.preventDefault();
    const text = chat.elements.text;
    if (await order("chat", { to: chat.elements.to.value, text: text.value })) text.value = "";
  };
  file.onsubmit = async e => {
    e.preventDefault();
    const chosen = file.elements.file.files[0];
    const where = new URLSearchParams({ station: name, to: chat.elements.to.value, name: chosen.name });
    if (await post("/api/file?" + where, chosen)) file.reset();
  };
  mail.onsubmit = async e => {
    e.preventDefault();
    const { sender, to, subject, text } = mail.elements;
    if (await order("mail", { sender: sender.value, to: to.value, subject: subject.value,
      text: text.value }, mail.querySelector(".said"))) subject.value = text.value = "";
  };
  if (token) setInterval(refresh, 1000);
}

// Offers only what the station allows. to: the peer that is proposed while the field is empty.
export function allow(node, allowed, to) {
  node.querySelector("form.chat").hidden = !allowed.includes("chat");
  node.querySelector("form.file").hidden = !allowed.includes("file");
  const field = node.querySelector("form.chat input[name=to]");
  if (to && !field.value && !field.dataset.proposed) {
    field.value = to;
    field.dataset.proposed = "yes";
  }
}
