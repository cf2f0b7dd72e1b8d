"""The palette as CSS variables, light and dark: by what the system prefers, or by the page's own switch."""

from garrison.viewer.palette import INK, LINE, PALETTE, PAPER, SOFT, TINT, WARN

_PLAIN = {"ink": INK, "paper": PAPER, "soft": SOFT, "line": LINE, "tint": TINT, "warn": WARN}
MEANINGS = {
    "blue": "dodger_blue1",
    "red": "dark_orange3",
    "privileged": "dark_orange3",
    "user": "orange3",
    "unknown": "orchid",
    "agree": "green3",
    "term-user": "steel_blue1",
    "term-enterprise": "orange3",
    "term-operational": "dark_orange3",
    "term-service": "orchid",
    "term-action": "dodger_blue1",
    "quiet": "grey42",
}
"""What each thing on the map and in the charts is coloured with; shapes and letters say the same."""


def tokens() -> str:
    """Return the rules that define every colour of the page."""
    light, dark = _variables(0), _variables(1)
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f':root[data-theme="light"]{{color-scheme:light;{light}}}\n'
        f':root[data-theme="dark"]{{color-scheme:dark;{dark}}}\n'
        f"@media print{{:root:root{{color-scheme:light;{light}}}}}\n"
    )


def _variables(form: int) -> str:
    plain = "".join(f"--{name}:{forms[form]};" for name, forms in _PLAIN.items())
    return plain + "".join(f"--{name}:{PALETTE[colour][form]};" for name, colour in MEANINGS.items())
