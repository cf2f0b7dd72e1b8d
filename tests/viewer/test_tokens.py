"""The colours of the page: all from the palette, all defined, in both forms."""

import re

from garrison.viewer.bundle import script, style
from garrison.viewer.palette import PALETTE
from garrison.viewer.tokens import MEANINGS, tokens

LOCAL = {"edge", "tone", "term", "who"}
"""Variables that a rule of the style sheet sets for what is inside."""


def test_every_colour_is_from_the_palette() -> None:
    assert set(MEANINGS.values()) <= set(PALETTE)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b", style()) == []


def test_every_variable_is_defined() -> None:
    used = set(re.findall(r"var\(--([\w-]+)", style() + script()))
    defined = set(re.findall(r"--([\w-]+):", tokens()))
    assert used - LOCAL <= defined
    assert all(f"--{name}:" in style() for name in LOCAL)


def test_every_meaning_is_used() -> None:
    used = set(re.findall(r"var\(--([\w-]+)", style()))
    assert set(MEANINGS) <= used


def test_the_switch_overrules_the_system() -> None:
    rules = tokens().splitlines()
    light, dark = rules[0], rules[1]
    assert re.findall(r"--paper:(#\w+)", light) != re.findall(r"--paper:(#\w+)", dark)
    assert rules.index(dark) < next(k for k, rule in enumerate(rules) if '[data-theme="light"]' in rule)
