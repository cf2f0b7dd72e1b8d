"""Red's actions as one list."""

from garrison.cage2.names import HOSTS, Host, RedKind
from garrison.cage2.red_moves import KINDS_AND_TARGETS, NUM_RED_MOVES, RED_MOVES


def test_every_action_that_can_do_something_is_there_once() -> None:
    assert [move.id for move in RED_MOVES] == list(range(NUM_RED_MOVES)) == list(range(1 + 3 + 3 * 13 + 1))
    assert len({(move.kind, move.target) for move in RED_MOVES}) == NUM_RED_MOVES
    assert RED_MOVES[0].name == "Sleep"
    assert RED_MOVES[3].name == "DiscoverRemoteSystems User"
    assert RED_MOVES[-1].name == "Impact Op_Server0"
    assert KINDS_AND_TARGETS[-1].tolist() == [RedKind.IMPACT, Host.OP_SERVER0]
    names = {move.name for move in RED_MOVES}
    for what in ("DiscoverNetworkServices", "ExploitRemoteService", "PrivilegeEscalate"):
        assert {f"{what} {host}" for host in HOSTS} <= names
