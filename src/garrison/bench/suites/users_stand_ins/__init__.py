"""What the users' trainers import that is not here: on the path while these run, and never else."""
