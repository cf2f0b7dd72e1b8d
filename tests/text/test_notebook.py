import json
import re

import numpy as np
import pytest

from garrison.cage2 import Env
from garrison.cage2.names import ACTIONS, BELIEFS, HOSTS, SUBNETS, Success
from garrison.episodes.sentences import decoy_name
from garrison.errors import UserError
from garrison.text.blue_sight import COLUMNS, Sight, as_table
from garrison.text.notebook import VIEWS, Notebook, Telling
from garrison.text.prompts import instructions, tool
from garrison.text.renaming import Names, names_of

SCHEMES = ["neutral:2", "roles"]


def played(telling: Telling, turns: int = 40, seed: int = 5, rules: str = "head") -> tuple[Notebook, list[str]]:
    """A notebook after some turns of random actions, and how each was told."""
    env, random = Env(red="meander", rules=rules, length=turns), np.random.default_rng(seed)
    notebook = Notebook(telling, rules)
    notebook.begin(env.reset(seed=seed)[0])
    texts = [notebook.text()]
    for _ in range(turns):
        action = int(random.integers(145))
        notebook.add(action, env.step(action)[0])
        texts.append(notebook.text())
    return notebook, texts


def test_the_table_is_the_challenges() -> None:
    env = Env(red="bline", length=50)
    bits, _ = env.reset(seed=3)
    subnet_of = np.array([0] * 4 + [1] * 4 + [2] * 5)
    for _ in range(50):
        bits = env.step(np.int64(2 + 8))[0]
        rows = [line.split() for line in as_table(Sight.of(bits), Names(), subnet_of).splitlines()]
        assert " ".join(rows[0]) == " ".join(COLUMNS)
        assert [(row[0], *row[2:]) for row in rows[2:]] == [
            tuple(line.split()) for line in env.batch.blue_table().splitlines()[2:]
        ]


@pytest.mark.parametrize("rules", ["head", "leaderboard"])
def test_what_an_action_did_is_told_as_the_simulator_knows_it(rules: str) -> None:
    env, random = Env(red="meander", rules=rules, length=400), np.random.default_rng(0)
    notebook = Notebook(Telling(), rules)
    notebook.begin(env.reset(seed=1)[0])
    refused = 0
    for _ in range(400):
        action = int(random.integers(28, 145))
        notebook.add(action, env.step(action)[0])
        succeeded = env.truth.blue_success[0] == Success.YES
        assert notebook.turns[-1].result.startswith("refused") != succeeded
        refused += not succeeded
        true = {
            HOSTS[h]: [decoy_name(d) for d in np.flatnonzero(env.truth.decoys[0, h])]
            for h in range(13)
            if env.truth.decoys[0, h].any()
        }
        assert notebook.decoys() == true
    assert 50 < refused < 300


def test_an_analyse_that_finds_something_is_told() -> None:
    env = Env(red="bline", length=30)
    notebook = Notebook(Telling())
    notebook.begin(env.reset(seed=0)[0])
    for _ in range(12):
        notebook.add(0, env.step(0)[0])
    held = int(np.flatnonzero(env.truth.malware[0])[-1])
    for expected in ("found malware.", "nothing new, it was believed privileged before."):
        notebook.add(2 + held, env.step(2 + held)[0])
        assert notebook.turns[-1].result == expected
    notebook.add(2, env.step(2)[0])
    assert notebook.turns[-1].result == "found nothing."


def test_the_history_is_a_window() -> None:
    for history in (0, 1, 4):
        _, texts = played(Telling(history=history, view="sentences", legal=False))
        told = re.findall(r"^(\d+)\. ", texts[20], flags=re.M)
        assert told == [str(turn) for turn in range(21 - history, 21)]
        whole = json.loads(played(Telling(history=history, view="json"))[1][20])
        assert [turn["turn"] for turn in whole.get("history", [])] == list(map(int, told))
    assert "history" not in json.loads(played(Telling(history=0, view="json"))[1][3])


def test_json_has_everything() -> None:
    notebook, texts = played(Telling(view="json"))
    told = json.loads(texts[-1])
    assert told["turn"] == 41
    assert list(told["hosts"]) == list(HOSTS)
    for h, row in enumerate(told["hosts"].values()):
        assert row["compromised"] == BELIEFS[notebook.sight.belief[h]]
    assert told["decoys"] == notebook.decoys()
    accepted = {
        (host, decoy) for group in told["fitting_decoys"] for host in group["hosts"] for decoy in group["decoys"]
    }
    masks = notebook._masks[0]
    assert accepted == {
        (HOSTS[a.host], a.name.split()[0].removeprefix("Decoy")) for a in ACTIONS if a.decoy >= 0 and masks[a.id]
    }


def test_sentences_tell_only_what_is_not_quiet() -> None:
    _, texts = played(Telling(view="sentences", history=0, legal=False))
    assert texts[0] == "Turn 1. No activity. No host is believed compromised."
    assert any("Activity: Exploit on" in text and "Compromised: " in text for text in texts)
    assert max(map(len, texts)) < 800


@pytest.mark.parametrize("rename", SCHEMES)
@pytest.mark.parametrize("view", VIEWS)
def test_no_text_has_a_name_of_the_challenge_when_hosts_are_renamed(view: str, rename: str) -> None:
    telling = Telling(view, 30, rename=rename)
    _, texts = played(telling)
    texts += [instructions(telling.names, answer=answer) for answer in ("tool", "text")]
    texts.append(json.dumps(tool(telling.names)))
    secret = re.compile(rf"{'|'.join(HOSTS)}|{'|'.join(name for name in SUBNETS if name != 'User')}|User\d|User:")
    assert [found[0] for text in texts if (found := secret.search(text))] == []
    assert all(host in texts[-1] for host in telling.names.hosts)


def test_the_order_of_hosts_tells_nothing() -> None:
    names = names_of("neutral:2")
    rows = as_table(Sight.of(np.zeros(52)), names, np.array([0] * 4 + [1] * 4 + [2] * 5)).splitlines()[2:]
    assert [row.split()[2] for row in rows] == sorted(names.hosts)
    assert [row.split()[1].rpartition(".")[2] for row in rows] == [str(k) for k in range(1, 14)]


@pytest.mark.parametrize("rename", SCHEMES)
def test_renamed_texts_are_the_same_but_for_the_names(rename: str) -> None:
    names, plain = names_of(rename), played(Telling(legal=False))[0]
    told = played(Telling(legal=False, rename=rename))[0]
    to = dict(zip(HOSTS, names.hosts, strict=True))
    for ours, theirs in zip(plain.turns, told.turns, strict=True):
        assert tuple(re.sub("|".join(HOSTS), lambda found: to[found[0]], part) for part in ours) == tuple(theirs)


@pytest.mark.parametrize("wrong", [{"view": "tabel"}, {"history": -1}, {"history": 1.5}, {"history": True}])
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UserError):
        Telling(**wrong)  # type: ignore[arg-type]
