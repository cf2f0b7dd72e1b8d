"""What an observation space and an action space become for a learner; `registry` chooses by the space."""
