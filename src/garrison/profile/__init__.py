"""`garrison profile ENV`: where the time of a step goes, on every backend, and what would make it shorter."""


def main(arguments: list[str]) -> int:
    """Run `garrison profile`."""
    from garrison.profile import command

    return command.main(arguments)
