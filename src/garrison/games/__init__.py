"""Games that others wrote, behind Gymnasium's interfaces: Procgen and Atari, each as single games and as a batch."""
