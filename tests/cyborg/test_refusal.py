"""What only the original has is known by name and refused with one sentence."""

import pytest

from garrison.cyborg.refusal import MissingName, NotInGarrison, original_names, refuses


def test_the_sentence_names_what_is_missing() -> None:
    with pytest.raises(NotImplementedError) as caught:
        raise NotInGarrison("the moon")
    assert str(caught.value) == "not in Garrison: run this part with the original CybORG: the moon"


def test_a_module_has_no_names_that_nobody_has() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        refuses("CybORG.Shared.Actions")("nothing")


def test_the_names_of_the_original_are_known() -> None:
    names = original_names()
    assert {"CybORG.Simulator", "CybORG.Simulator.State"} <= set(names["modules"])
    assert "RedMeanderAgent" in names["modules"]["CybORG.Agents"]
    assert "environment_controller" in names["classes"]["CybORG.CybORG.CybORG"]
    assert issubclass(MissingName, ImportError)
