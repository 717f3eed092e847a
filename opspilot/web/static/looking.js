// What a tab does while somebody looks at it, and what it leaves while nobody does. A browser has six connections to a
// server, for all of its tabs: one that is hidden gives its own back, and goes on where it was when it is seen again.
"use strict";

const SECONDS = 20;

// A stream that is open ends by itself while the tab is hidden; one must not begin there, as in a tab opened behind.
document.addEventListener("htmx:before:request", (event) => {
  if (event.target.id === "changes" && document.hidden) event.preventDefault();
});

// How many questions wait is asked for now and then, and soon after something has happened here.
const look = () => { if (!document.hidden) htmx.trigger("#looks", "look"); };
setInterval(look, SECONDS * 1000);
let soon;
document.addEventListener("htmx:sse:after:message", () => {
  clearTimeout(soon);
  soon = setTimeout(look, 1000);
});
document.addEventListener("visibilitychange", () => {
  look();
  const changes = document.getElementById("changes");
  if (changes && !document.hidden) htmx.trigger(changes, "look");
});
