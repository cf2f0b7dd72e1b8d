"""The one exception that means: the input was wrong, and here is what to do."""


class UserError(ValueError):
    """Bad input from a person; its message names the value and the fix, and commands print it without a traceback."""


def choose(what: str, value: str, options: tuple[str, ...] | list[str]) -> str:
    """Return `value` if it is among `options`; otherwise raise a `UserError` that suggests the nearest."""
    if value in options:
        return value
    from difflib import get_close_matches

    near = get_close_matches(str(value), options, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(map(repr, options))}."
    raise UserError(f"unknown {what} {value!r}; {hint}")
