"""Where threads agree on who does which part of a job: a few words of memory, no queue and no lock.

A job is `items` rows of a batch, in chunks. Every member of the team has a share of its own, always the same rows, so
that they stay in its core's cache. Who is through with its share helps with the others': a thread that lost its core
then holds up nobody.

A kernel that works so ends with the parameters `items, chunk, board, member, call`, and is a loop of this form:

    job = first_job(board, call)
    while job >= 0:
        k = take(board, job, member, items, chunk)
        while k >= 0:
            ...  # rows k*chunk to min(items, (k+1)*chunk)
            finish(board, result)
            k = take(board, job, member, items, chunk)
        job = next_job(board, job, member, items, chunk, call)

The caller, member 0, leaves the loop when all chunks are done or after some microseconds. The others wait some
microseconds for the next job of the same call and then go to sleep, outside of the kernel.

Which chunk of a share is next stands in one word together with the job's number: nobody can take a part of a job that
is not the one that it looked at, however long it was away. `items` and `chunk` are arguments, not words of the board,
for the same reason: they belong to the call.
"""

import numpy as np

from garrison.jit import kernel
from garrison.jit.atomics import Words, add, load, pause, store, swap_if

# Places on the board. Each has two cache lines of its own, or writing one would cost the readers of its neighbour.
SPACING = 16
JOB, CALL, MEMBERS, SPINS, DONE, TOTAL, SHARES = (SPACING * k for k in range(7))
NO_CALL = -1
ASLEEP_BESIDE_SHARE = 1 * SPACING  # after each share: whether its member is asleep, and beside that, for itself alone,
WENT_TO_SLEEP = 1  # whether it has gone to sleep since it was woken last
_NUMBERS = 2**31 - 1


def make_board(members: int, spins: int) -> Words:
    """Return the board of a team whose other members than the caller are asleep."""
    board = np.zeros(SHARES + 2 * SPACING * members, np.int64)
    board[MEMBERS], board[SPINS], board[CALL] = members, spins, NO_CALL
    for member in range(1, members):
        board[_sleep_of(member) : _sleep_of(member) + 2] = 1
    return board


def _sleep_of(member: int) -> int:
    return SHARES + 2 * SPACING * member + ASLEEP_BESIDE_SHARE


def has_gone_to_sleep(board: Words, member: int) -> bool:
    """Return, once, whether a member, who is the one that asks, has to wait until it is woken."""
    place = _sleep_of(member) + WENT_TO_SLEEP
    went, board[place] = bool(board[place]), 0
    return went


def is_asleep(board: Words, member: int) -> bool:
    """Return whether a member waits to be woken."""
    return bool(board[_sleep_of(member)])


@kernel
def count_chunks(items: int, chunk: int) -> int:
    """Return how many chunks a job has."""
    return (items + chunk - 1) // chunk


@kernel(cached=True)
def post(board: Words, items: int, chunk: int, call: int) -> int:
    """Begin a job, of which the one before must be done; return how many members are to be woken."""
    job = load(board, JOB) + 1
    members, chunks = board[MEMBERS], count_chunks(items, chunk)
    store(board, DONE, 0)
    store(board, TOTAL, 0)
    store(board, CALL, call)
    for member in range(members):
        first = chunks * member // members
        store(board, SHARES + 2 * SPACING * member, ((job & _NUMBERS) << 32) | first)
    store(board, JOB, job)
    asleep = 0
    for member in range(1, members):
        asleep += load(board, SHARES + 2 * SPACING * member + ASLEEP_BESIDE_SHARE)
    return asleep


@kernel(cached=True)
def rouse(board: Words, member: int) -> bool:
    """Return whether a member is asleep and this call is the one that has to wake it."""
    return swap_if(board, SHARES + 2 * SPACING * member + ASLEEP_BESIDE_SHARE, 1, 0)


@kernel(cached=True)
def is_done(board: Words, items: int, chunk: int) -> bool:
    """Return whether all chunks of the job are done."""
    return load(board, DONE) == count_chunks(items, chunk)


@kernel(cached=True)
def wait_a_while(spins: int) -> None:
    """Wait as long as this many turns of a loop take."""
    for _ in range(spins):
        pause()


@kernel
def first_job(board: Words, call: int) -> int:
    """Return the number of the present job, or -1 if it is not of this call."""
    job = load(board, JOB)
    return job if load(board, CALL) == call else -1


@kernel
def take(board: Words, job: int, member: int, items: int, chunk: int) -> int:
    """Return a chunk that nobody has taken, first of the member's own share; -1 if there is none in this job."""
    members, chunks = board[MEMBERS], count_chunks(items, chunk)
    for turn in range(members):
        share = (member + turn) % members
        place, end = SHARES + 2 * SPACING * share, chunks * (share + 1) // members
        while True:
            word = load(board, place)
            if (word >> 32) != (job & _NUMBERS):
                return -1
            if (word & 0xFFFFFFFF) >= end:
                break
            if swap_if(board, place, word, word + 1):
                return word & 0xFFFFFFFF
    return -1


@kernel
def finish(board: Words, result: int) -> None:
    """Say that a chunk is done; the results of all are summed."""
    if result != 0:
        add(board, TOTAL, result)
    add(board, DONE, 1)


@kernel
def next_job(board: Words, job: int, member: int, items: int, chunk: int, call: int) -> int:
    """Return the number of the next job of this call; -1 if the kernel has to be left."""
    if member == 0:
        chunks = count_chunks(items, chunk)
        for _ in range(board[SPINS]):
            if load(board, DONE) == chunks:
                break
            pause()
        return -1
    place = SHARES + 2 * SPACING * member + ASLEEP_BESIDE_SHARE
    for _ in range(board[SPINS]):
        if load(board, JOB) != job:
            return first_job(board, call)
        pause()
    store(board, place, 1)
    if load(board, JOB) == job or not swap_if(board, place, 1, 0):  # whoever posts now sees the word, and wakes
        board[place + WENT_TO_SLEEP] = 1
        return -1
    return first_job(board, call)
