"""What the training of a workflow adds to the metrics of an update, by name."""

ENV_REWARD = "workflow/env_reward"
ALIGNMENT = "workflow/alignment_reward"
TOTAL = "workflow/total"
COMPLIANCE = "workflow/compliance"
FIXES = "workflow/fixes"
EPISODES = "workflow/episodes"
