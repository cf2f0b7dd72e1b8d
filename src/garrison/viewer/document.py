"""The HTML file: what is allowed to run in it, the style, the data once, the script."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from typing import Any

from garrison.errors import UserError
from garrison.viewer.bundle import script, style
from garrison.viewer.tokens import tokens

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What no text of an HTML file may hold, escaped or not."""
_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}

_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<noscript><p>{totals} The map, the turns and the charts of this page need JavaScript.</p></noscript>
<div id="page"></div>
<script type="application/json" id="data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def page(data: Mapping[str, Any]) -> str:
    """Return a page that shows episodes: one HTML file that needs nothing else and asks for nothing.

    Args:
        data: `title`; `episodes`, a list in the format of docs/watch.md; and `pair`, None or
            `{"first_difference": t or None}`, which shows the first two side by side.

    Raises:
        UserError: the data holds no episode, a pair of fewer than two, or what JSON cannot say.
    """
    episodes = data.get("episodes") or []
    if not episodes:
        raise UserError("there is no episode to show.")
    if data.get("pair") is not None and len(episodes) < 2:
        raise UserError("a pair needs two episodes; there is one.")
    whole_style, whole_script = tokens() + style(), script()
    policy = (
        f"default-src 'none'; script-src {_hash(whole_script)}; style-src {_hash(whole_style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return _DOCUMENT.format(
        policy=policy,
        title=_escape(data.get("title") or "Episodes"),
        style=whole_style,
        totals=_escape(" ".join(map(_sentence, episodes))),
        data=_json(data),
        script=whole_script,
    )


def _json(data: Mapping[str, Any]) -> str:
    """Return JSON in ASCII that ends no script and begins no tag."""
    try:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UserError(f"the episodes cannot be written as JSON: {error}.") from error
    return re.sub("[<>&]", lambda match: _IN_SCRIPT[match[0]], text)


def _sentence(episode: Mapping[str, Any]) -> str:
    name = (episode.get("agent") or {}).get("name")
    return f"{name} against {episode.get('red')}, seed {episode.get('seed')}: total {episode.get('total')}."


def _escape(text: object) -> str:
    return html.escape(_FORBIDDEN.sub("\ufffd", str(text)))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
