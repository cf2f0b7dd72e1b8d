"""What every batch of environments agrees on, whoever steps it: the simulator's own batch and the vector backends."""
