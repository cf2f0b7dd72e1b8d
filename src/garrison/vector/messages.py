"""The opcodes that the vector backends add to those of every worker (`garrison.workers.channel`)."""

# To a worker.
STEP = b"s"  # step your whole group with the actions in the buffers
SOME = b"S"  # step these environments (int32 numbers within the group)

# Both ways, before the message that they belong to: a pickled (numbers within the group, columns of objects).
OBJECTS = b"O"

# From a worker.
READY = b"I"  # these environments are ready (int32 numbers within the group)
READY_WITH = b"J"  # a pickled (numbers, infos)
