// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the line at the head of a page and the estimates of the form up to date. The door works
// without it.
"use strict";

function words(choice) {
  const s = Math.round(choice.seconds);
  const time = s < 120 ? `${s} s` : `${Math.round(s / 60)} min`;
  return `about ${time}, ${Math.round(choice.octets / 1000)} kB`;
}

function follow(line) {
  const timer = setInterval(async () => {
    try {
      const answer = await fetch(`/view/${line.dataset.view}/state`);
      if (!answer.ok) throw new Error(answer.status);
      const state = await answer.json();
      line.textContent = state.words;
      if (state.title) document.title = state.title;
      if (state.done) clearInterval(timer);
    } catch {
      clearInterval(timer);
    }
  }, 1000);
}

function estimate(form) {
  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const query = new URLSearchParams({url: form.url.value, budget: form.budget.value});
      const answer = await fetch(`/estimate?${query}`);
      if (!answer.ok) return;
      const choices = await answer.json();
      for (const place of form.querySelectorAll("[data-estimate]"))
        place.textContent = words(choices[place.dataset.estimate]);
    }, 300);
  });
}

for (const line of document.querySelectorAll("#state")) follow(line);
for (const form of document.querySelectorAll("form.ask")) if (form.url) estimate(form);
