import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from garrison.errors import UserError
from garrison.vector import rows
from garrison.vector.buffers import BufferPlan, Buffers, size


def test_two_wrong_lengths_do_not_cancel_out() -> None:
    leaf = rows.Leaf(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="must have 3 rows"):
        leaf.write(slice(0, 2), [np.zeros(2), np.zeros(4)])


def test_wrong_inner_shape_or_kind_is_an_error() -> None:
    leaf = rows.Leaf(np.zeros((2, 3, 2), np.int8))
    with pytest.raises(ValueError, match="wrong shape"):
        leaf.write(slice(0, 2), [np.zeros((3, 1), np.int8)] * 2)
    with pytest.raises(TypeError, match="Cannot cast"):
        leaf.write(slice(0, 2), [np.zeros((3, 2))] * 2)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6, unique=True), st.sampled_from([(3,), (2, 4), ()]))
@settings(max_examples=30, deadline=None)
def test_any_rows_are_written_where_they_belong(where: list[int], shape: tuple[int, ...]) -> None:
    target = np.zeros((6, *shape))
    values = [np.full(shape, i + 1.0) for i in where]
    rows.Leaf(target).write(where, values)
    for i in range(6):
        assert (target[i] == (i + 1.0 if i in where else 0.0)).all()


def test_arrays_of_the_buffers_do_not_overlap_and_fill_them() -> None:
    space = spaces.Dict(
        {"a": spaces.Box(-1, 1, (5,), np.float64), "b": spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(7)))}
    )
    plan = BufferPlan(3, space, spaces.Discrete(2), {"x": ((2,), "<f4")}, workers=2)
    buffers = Buffers(plan)
    arrays = [buffers.positions, buffers.observations["a"], *buffers.observations["b"], buffers.actions]
    arrays += [buffers.rewards, buffers.terminations, buffers.truncations, buffers.extras["x"]]
    for i, array in enumerate(arrays):
        assert array.ctypes.data % 8 == 0
        array[...] = i + 1
    for i, array in enumerate(arrays):
        assert (array == (i + 1 if array.dtype != bool else True)).all()
    assert size(plan) >= sum(a.nbytes for a in arrays)
    part = buffers.part(1, 2, worker=1)
    part.rewards[:] = -5
    assert buffers.rewards.tolist() == [6, -5, -5]


def test_values_without_a_fixed_size_are_objects_and_shown_as_tuples() -> None:
    space = spaces.Dict({"text": spaces.Text(5), "box": spaces.Box(0, 1, (2,))})
    buffers = Buffers(BufferPlan(3, space, spaces.Sequence(spaces.Discrete(2))))
    rows.writer(space, buffers.part(1, 2, 0).observations).write(
        slice(0, 2), [{"text": word, "box": np.ones(2, np.float32)} for word in ("one", "two")]
    )
    shown = rows.shown(buffers.observations)
    assert shown["text"] == (None, "one", "two")
    assert shown["box"].shape == (3, 2)
    rows.assign(buffers.actions, np.array([0, 2]), ((1, 2), [3]))
    assert rows.split(spaces.Sequence(spaces.Discrete(2)), buffers.actions, [2, 0]) == [[3], (1, 2)]
    with pytest.raises(UserError, match="must be a tuple of 3; got a tuple of 1"):
        rows.assign(buffers.actions, slice(0, 3), (1,))
    assert [type(found) for found in rows.object_spaces(space)] == [spaces.Text]


def test_what_does_not_fit_is_described() -> None:
    space = spaces.Dict({"a": spaces.Tuple((spaces.Discrete(2), spaces.Box(0, 1, (2,))))})
    good = {"a": (1, np.zeros(2, np.float32))}
    assert rows.mismatch(space, good) is None
    assert "['a'][1] has shape (3,)" in (rows.mismatch(space, {"a": (1, np.zeros(3))}) or "")
    assert "keys ['a']" in (rows.mismatch(space, {"b": 1}) or "")
    assert "tuple of 2" in (rows.mismatch(space, {"a": (1,)}) or "")
