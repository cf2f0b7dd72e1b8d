"""Defenders that fix kinds of hosts in a given order, and the search for the best order.

`orders` has the 120 orders, `task` the environments that follow them, `training` what they add to a run, `surrogate`,
`decisions` and `trials` the parts of a search, and `play` how a defender is measured. The simulator's side is
`garrison.cage2.workflow`.
"""
