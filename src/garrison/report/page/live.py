"""A page that is written again and again: the few lines of script that load it anew, until there is no news."""

from garrison.report.page.svg import element

_SCRIPT = """
(function () {
  var root = document.documentElement, note = document.getElementById("old");
  var written = Number(root.dataset.written), every = Number(root.dataset.every);
  var patience = Number(root.dataset.patience);
  var key = "garrison:" + location.pathname;
  try {
    // A browser does not keep what was opened, nor a place that was scrolled to just before.
    var details = document.querySelectorAll("details"), kept = JSON.parse(sessionStorage.getItem(key) || "null");
    sessionStorage.removeItem(key);
    if (kept) {
      kept.open.forEach(function (k) { if (details[k]) details[k].open = true; });
      scrollTo(kept.x, kept.y);
      addEventListener("load", function () { setTimeout(function () { history.scrollRestoration = "auto"; }, 100); });
    }
  } catch (e) { /* nothing is kept where a browser forbids it */ }
  function look() {
    if (Date.now() / 1000 - written > patience) {
      var badge = document.querySelector("h1 .badge");
      if (badge) { badge.className = "badge bad"; badge.textContent = "no news"; }
      note.hidden = false;
      return;
    }
    if (document.hidden || String(getSelection())) { setTimeout(look, 1000); return; }
    try {
      var open = [];
      details.forEach(function (each, k) { if (each.open) open.push(k); });
      sessionStorage.setItem(key, JSON.stringify({ open: open, x: scrollX, y: scrollY }));
      history.scrollRestoration = "manual";
    } catch (e) { /* then all is closed again */ }
    location.reload();
  }
  setTimeout(look, 1000 * every);
})();
"""


def live_attributes(written: float, every: float, patience: float) -> str:
    """Return what the document's root says: when it was written (seconds since 1970), and the two numbers of seconds.

    The page is loaded anew after `every` of them, and is old when none has been written for `patience`.
    """
    return f' data-written="{written:.0f}" data-every="{every:.1f}" data-patience="{patience:.1f}"'


def old_note(inside: str) -> str:
    """Return a note of this markup, which the script shows when there has been no news for too long."""
    return element("div", inside, id="old", class_="note", hidden="hidden", role="status")


def live_script() -> str:
    """Return the script, for the end of the document."""
    return f"<script>{_SCRIPT}</script>"
