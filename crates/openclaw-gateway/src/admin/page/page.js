// Keeps the page live: asks for what changed, and counts down in between. The token stays in this variable alone.
"use strict";
(() => {
  const EVERY_MS = 2000;
  const live = document.getElementById("live");
  const ask = document.getElementById("ask");
  const note = document.getElementById("ask-note");
  const pulse = document.getElementById("pulse");
  let token = "";
  let failures = 0;

  // A header takes bytes, and a token may be written in any script.
  const bytes = (text) => String.fromCharCode(...new TextEncoder().encode(text));
  const headers = (more) => (token ? { authorization: `Bearer ${bytes(token)}`, ...more } : { ...more });

  function span(ms) {
    let rest = Math.ceil(ms / 1000);
    const parts = [];
    for (const [unit, name] of [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]]) {
      if (rest >= unit && parts.length < 2) {
        parts.push(`${Math.floor(rest / unit)}${name}`);
        rest %= unit;
      } else if (parts.length) {
        break;
      }
    }
    return parts.join(" ");
  }

  function tick() {
    const now = Date.now();
    for (const time of live.querySelectorAll("[data-until]")) {
      const left = time.dataset.until - now;
      time.textContent = left > 0 ? time.dataset.before + span(left) : "now";
    }
    for (const bar of live.querySelectorAll("[data-end]")) {
      const whole = Math.max(1, bar.dataset.end - bar.dataset.since);
      bar.setAttribute("width", Math.max(0, Math.min(1000, ((bar.dataset.end - now) * 1000) / whole)));
    }
  }

  function show(html) {
    const open = new Set([...live.querySelectorAll("details[open]")].map((story) => story.dataset.id));
    const focus = document.activeElement?.dataset?.clear;
    live.innerHTML = html;
    for (const story of live.querySelectorAll("details")) story.open = open.has(story.dataset.id);
    for (const button of live.querySelectorAll("button[hidden]")) button.hidden = false;
    if (focus) live.querySelector(`[data-clear="${CSS.escape(focus)}"]`)?.focus();
    tick();
  }

  function wantToken(text) {
    token = "";
    live.replaceChildren();
    ask.hidden = false;
    note.textContent = text;
    pulse.textContent = "";
    document.getElementById("token").focus();
  }

  async function load() {
    if (!ask.hidden || document.hidden) return;
    try {
      const answer = await fetch("/admin/v1/page", { headers: headers(), cache: "no-store" });
      if (answer.status === 401 || answer.status === 429) {
        const problem = await answer.json().catch(() => null);
        return wantToken(token ? problem?.error?.message ?? "That is not the token." : "");
      }
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      show(await answer.text());
      failures = 0;
      pulse.textContent = "Live.";
    } catch (error) {
      failures += 1;
      if (failures > 1) pulse.textContent = `The gateway does not answer (${error.message}); this is what it said last.`;
    }
  }

  ask.addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.getElementById("token");
    token = field.value.trim();
    field.value = "";
    ask.hidden = true;
    load();
  });

  live.addEventListener("click", async (event) => {
    const profile = event.target.closest("[data-clear]")?.dataset.clear;
    const section = event.target.closest("[data-agent]");
    if (!profile || !section) return;
    event.target.disabled = true;
    const path = `/admin/v1/cooldowns/clear?agent=${encodeURIComponent(section.dataset.agent)}`;
    await fetch(path, {
      method: "POST",
      headers: headers({ "content-type": "application/json" }),
      body: JSON.stringify({ profile }),
    }).catch(() => null);
    load();
  });

  document.addEventListener("visibilitychange", load);
  if (document.body.dataset.asks === "token") wantToken("");
  else load();
  setInterval(tick, 1000);
  setInterval(load, EVERY_MS);
})();
