// What the pages do beside htmx. Nothing here is needed to read or to answer.
"use strict";

// "Copy link": puts the address of a part of the page on the clipboard, and says so where it was pressed.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(new URL(button.dataset.copy, location.href).href);
    const label = button.textContent;
    button.textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = label; }, 1500);
  } catch {
    location.hash = button.dataset.copy;
  }
});

// Buttons that only work with this script are shown by it.
const reveal = (root) => root.querySelectorAll("[data-copy][hidden]").forEach((button) => { button.hidden = false; });
document.addEventListener("DOMContentLoaded", () => reveal(document));
document.addEventListener("htmx:after:swap", () => reveal(document));

// While a stream of changes is cut off, the page says so.
const trouble = (there) => {
  const said = document.getElementById("trouble");
  if (said) said.hidden = !there;
};
document.addEventListener("htmx:sse:error", () => trouble(true));
document.addEventListener("htmx:sse:after:connection", () => trouble(false));

// Ages and times left go on while a page is open; until then they are as the server wrote them.
const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const relative = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "always", style: "short" });
setInterval(() => {
  document.querySelectorAll("time[data-relative]").forEach((time) => {
    const seconds = (new Date(time.dateTime) - Date.now()) / 1000;
    const [unit, length] = units.find(([, each]) => Math.abs(seconds) >= each) ?? units[3];
    time.textContent = relative.format(Math.trunc(seconds / length), unit);
  });
}, 20000);
