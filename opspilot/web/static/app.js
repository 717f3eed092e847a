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
