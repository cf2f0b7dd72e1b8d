"""How good a defender of CAGE-2 can be: bounds from above, by dynamic programming on the compiled simulator.

A defender that sees the true state can do at least as well as one that sees what the challenge shows. Its game is small
enough to be solved when everything is dropped that changes nothing (`positions`), and where it is not, Blue is given
presents that can only help it. `explore` finds every position by running the simulator on every action and every draw,
`values` goes back from the end of the episode, `cell_bounds` gives the numbers, and `audit` holds the values against
real episodes, step by step.
"""
