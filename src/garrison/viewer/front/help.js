// Keys and signs, in a dialog that the browser closes with Escape.

import { html } from "./dom.js";
import { KEYS } from "./keys.js";

const SIGNS = [
  ["R exploit ✓", "Red's move and its arrow from the foothold; ✕ and dashes: it failed; blue dots: a decoy took it"],
  ["B Restore", "Blue's move, with a dashed ring around its target"],
  ["×2, M, h1", "Red's sessions on a host; its malware, which Analyse would find; sessions that Remove cannot kill"],
  ["Apache, Ap", "a decoy on the host; caught 7: exploits that decoys there took so far"],
  ["OT shielded", "the operational service was restored: Impact cannot stop it any more"],
  ["▲ ● ◆ ■ ▬", "exploit won, escalated, caught by a decoy, restored, service down"],
];

export function createHelp() {
  const close = html("button", { type: "button" }, "Close");
  const dialog = html(
    "dialog",
    { "aria-label": "Help" },
    html("header", {}, html("h2", {}, "Keys"), close),
    table(KEYS.map(([keys, meaning]) => [keys.split(" ").flatMap((key) => [html("kbd", {}, key), " "]), meaning])),
    html("h2", {}, "Signs"),
    table(SIGNS.map(([sign, meaning]) => [[sign], meaning])),
  );
  const button = html("button", { type: "button", "aria-label": "Keys and help", title: "Keys and signs (?)" }, "?");
  button.addEventListener("click", () => dialog.showModal());
  close.addEventListener("click", () => dialog.close());
  return { button, dialog, open: () => dialog.showModal(), isOpen: () => dialog.open };
}

function table(rows) {
  const drawn = rows.map(([head, text]) => html("tr", {}, html("th", { scope: "row" }, ...head), html("td", {}, text)));
  return html("table", {}, html("tbody", {}, ...drawn));
}
