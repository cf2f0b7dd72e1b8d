// The list of keys, in a dialog that the browser closes with Escape.

import { html } from "./dom.js";
import { KEYS } from "./keys.js";

export function createHelp() {
  const close = html("button", { type: "button" }, "Close");
  const table = html("table", {}, html("tbody", {}, ...KEYS.map(keyRow)));
  const dialog = html("dialog", { "aria-label": "Keys" }, html("h2", {}, "Keys"), table, close);
  const button = html("button", { type: "button", "aria-label": "Keys and help", title: "Keys (?)" }, "?");
  button.addEventListener("click", () => dialog.showModal());
  close.addEventListener("click", () => dialog.close());
  return { button, dialog, open: () => dialog.showModal(), isOpen: () => dialog.open };
}

function keyRow([keys, meaning]) {
  const signs = keys.split(" ").flatMap((key) => [html("kbd", {}, key), " "]);
  return html("tr", {}, html("th", { scope: "row" }, ...signs), html("td", {}, meaning));
}
