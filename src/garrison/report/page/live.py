"""A page that is written again and again: the few lines of script that load it anew, until there is no news."""

from garrison.report.page.svg import element

_SCRIPT = """
(function () {
  var root = document.documentElement, note = document.getElementById("old");
  var written = Number(root.dataset.written), every = Number(root.dataset.every);
  var patience = Number(root.dataset.patience);
  var key = "garrison:" + location.pathname;
  try {
    var kept = JSON.parse(sessionStorage.getItem(key) || "null");
    if (kept) {
      kept.open.forEach(function (k) { var d = document.querySelectorAll("details")[k]; if (d) d.open = true; });
      window.scrollTo(0, kept.y);
    }
    sessionStorage.removeItem(key);
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
      document.querySelectorAll("details").forEach(function (d, k) { if (d.open) open.push(k); });
      sessionStorage.setItem(key, JSON.stringify({ y: window.scrollY, open: open }));
    } catch (e) { /* then the page begins at its top */ }
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


def live_script(old: str) -> str:
    """Return the script, and `old`, the markup of a note that it shows when there has been no news for too long."""
    return element("div", old, id="old", class_="note", hidden="hidden") + f"<script>{_SCRIPT}</script>"
