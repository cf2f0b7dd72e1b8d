// The list of keys, in a dialog that the browser closes with Escape.

import { html } from "./dom.js";
import { KEYS } from "./keys.js";

export function createHelp() {
  const close = html("button", { type: "button" }, "Close");
  const rows = KEYS.map(([keys, meaning]) => html("tr", {}, html("th", { scope: "row" }, ...keys.split(" ").flatMap((key) => [html("kbd", {}, key), " "])), html("td", {}, meaning)));
  const dialog = html("dialog", { class: "help", "aria-label": "Keys" }, html("h2", {}, "Keys"), html("table", {}, html("tbody", {}, ...rows)), close);
  const button = html("button", { type: "button", "aria-label": "Keys and help", title: "Keys (?)" }, "?");
  button.addEventListener("click", () => dialog.showModal());
  close.addEventListener("click", () => dialog.close());
  return { button, dialog, open: () => dialog.showModal(), isOpen: () => dialog.open };
}
