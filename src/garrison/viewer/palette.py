"""What every colour looks like, on white paper and on a dark screen: for figures, pages and the stages of training."""

PALETTE = {
    "dodger_blue1": ("#0072b2", "#4aa8e0"),
    "dark_orange3": ("#d55e00", "#f0803c"),
    "green3": ("#009e73", "#2fc79a"),
    "orchid": ("#cc79a7", "#e29cc4"),
    "orange3": ("#b07d00", "#e6b422"),
    "steel_blue1": ("#56b4e9", "#8fd0f5"),
    "grey42": ("#5b5b5b", "#a8a8a8"),
    "rosy_brown": ("#8c564b", "#c08a7e"),
    "sea_green2": ("#2fb58f", "#5fd6b4"),
    "aquamarine3": ("#5ec9aa", "#8ce3cb"),
    "dark_sea_green2": ("#8cd9c2", "#b7efe0"),
    "yellow4": ("#a6b727", "#c3d345"),
    "khaki3": ("#d4dc7f", "#e3e9a4"),
    "grey66": ("#b4b4b4", "#6f757b"),
}
"""Each colour's name, as a terminal knows it, with its light and its dark form."""
NUM_SERIES = 8
"""The first of the palette are for series; they are safe for most eyes."""


INK = ("#1c2127", "#e6e9ec")
PAPER = ("#ffffff", "#14181c")
SOFT = ("#5d6670", "#9aa4ae")
"""Text that stands back."""
LINE = ("#dde1e6", "#363d45")
TINT = ("#f4f6f8", "#1d2329")
"""Paper of a panel."""
WARN = ("#9a5b00", "#f0b252")
GOOD = ("#1a7f4b", "#5fce93")
BAD = ("#b3261e", "#ff8a80")
HEAT = ("#2f8fc9", "#0072b2")
"""The strongest cell of a heat map; text in `INK` can be read on it."""


def of_series(index: int) -> str:
    """Return the name of the colour of the series at `index`."""
    return list(PALETTE)[index % NUM_SERIES]


def light(name: str) -> str:
    """Return a colour for white paper, such as a figure's."""
    return PALETTE[name][0]
