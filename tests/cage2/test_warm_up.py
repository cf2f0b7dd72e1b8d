"""What is said while the kernels are compiled."""

from io import StringIO

from garrison.cage2.step import tell_compiling


class Terminal(StringIO):
    """A stream that is looked at by a person."""

    def isatty(self) -> bool:
        return True


def said(stream: StringIO) -> str:
    for done in range(4):
        tell_compiling(done, 3, stream)
    return stream.getvalue()


def test_a_terminal_sees_how_far_compiling_is() -> None:
    parts = said(Terminal()).split("\r")[1:]
    assert [part.rpartition(": ")[2] for part in parts] == ["0 of 3", "1 of 3", "2 of 3", "3 of 3\n"]


def test_a_file_gets_one_sentence() -> None:
    assert said(StringIO()) == "garrison: compiling the CAGE-2 kernels, once; about ten seconds...\n"
