// What the pages do beside htmx. Nothing here is needed to read or to answer.
"use strict";

// A link to a part of the page: its address goes to the clipboard as well, and the link says so.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-copy]");
  if (!link) return;
  try {
    await navigator.clipboard.writeText(link.href);
  } catch {
    return;
  }
  link.textContent = link.dataset.copied;
  setTimeout(() => { link.textContent = "#"; }, 1500);
});

// Times by the reader's own clock; without this they are in UTC.
const localise = () => document.querySelectorAll("time[data-clock]:not([data-local])").forEach((time) => {
  time.textContent = new Date(time.dateTime).toLocaleTimeString(document.documentElement.lang);
  time.dataset.local = "";
});
document.addEventListener("DOMContentLoaded", localise);

// Where the part that had the focus is replaced, the new one has it.
let had = [];
document.addEventListener("focusin", (event) => {
  had = [];
  for (let each = event.target; each; each = each.parentElement) if (each.id) had.push(each.id);
});
document.addEventListener("htmx:after:swap", () => {
  localise();
  // A session gets its name with its first question, which may come later than the page.
  const title = document.getElementById("title");
  if (title) document.title = `${title.textContent.trim()} · OpsPilot`;
  if (document.activeElement !== document.body) return;
  const there = had.map((id) => document.getElementById(id)).find((each) => each && each.id !== "content");
  if (!there) return;
  if (there.tabIndex < 0) there.tabIndex = -1;
  there.focus({ preventScroll: true });
});

// While the server can't be reached, the page says so; when somebody's sign-in has ended, it says that, and rests.
const show = (id, there) => { document.getElementById(id).hidden = !there; };
const lost = (status) => {
  const out = status === 401 || status === 403;
  show("trouble", !out);
  if (!out) return;
  show("signed-out", true);
  document.querySelectorAll("#changes, #looks").forEach((part) => part.remove());
};
document.addEventListener("htmx:sse:error", (event) => lost(event.detail.status));
document.addEventListener("htmx:error", () => lost());
document.addEventListener("htmx:response:error", (event) => {
  if (["changes", "looks"].includes(event.target.id)) lost(event.detail.ctx.response.status);
});
for (const found of ["htmx:sse:after:connection", "htmx:after:request"]) {
  document.addEventListener(found, (event) => {
    // That a number arrived doesn't mean that a page's own changes do.
    if (event.target.id !== "looks" || !document.getElementById("changes")) show("trouble", false);
  });
}

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
