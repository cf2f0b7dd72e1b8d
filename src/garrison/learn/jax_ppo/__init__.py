"""PPO on the device: environments, acting, advantages and learning inside one compiled function of JAX.

Its modules import JAX, so they are loaded when such a training begins; `learner.train` is the way in.
"""
