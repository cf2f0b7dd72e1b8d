"""Opponents by name, and how often each plays: `bline`, `bline,meander` or `bline:0.7,meander:0.3`."""

from garrison.errors import UserError


def parse_shares(what: str, text: str) -> dict[str, float]:
    """Read names with commas between them, each with its share behind a colon or none with one.

    A name may have colons itself, as `my_module:MyRed` has: only a number behind the last one is a share.

    >>> parse_shares("red", "bline,meander")
    {'bline': 0.5, 'meander': 0.5}
    >>> parse_shares("red", "my_module:MyRed:0.25,runs/red-1:0.75")
    {'my_module:MyRed': 0.25, 'runs/red-1': 0.75}
    """
    parts = [_split(part.strip()) for part in text.split(",") if part.strip()]
    names = [name for name, _ in parts]
    if not names or len(set(names)) != len(names):
        raise UserError(f"{what} must be names, each once, with commas between them; got {text!r}.")
    given = [share for _, share in parts if share is not None]
    if not given:
        return dict.fromkeys(names, 1.0 / len(names))
    if len(given) < len(names):
        raise UserError(f"every name in {what} needs odds, or none has any, as in a:0.7,b:0.3; got {text!r}.")
    if not (min(given) >= 0 and abs(sum(given) - 1.0) <= 1e-6):  # also catches NaN
        raise UserError(f"the odds in {what} must be 0 or more and sum to 1; got {text!r}.")
    return dict(zip(names, given, strict=True))


def _split(part: str) -> tuple[str, float | None]:
    name, colon, share = part.rpartition(":")
    try:
        return (name.strip(), float(share)) if colon and name.strip() else (part, None)
    except ValueError:
        return part, None
