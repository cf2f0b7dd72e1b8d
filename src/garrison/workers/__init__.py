"""Worker processes: started, watched, replaced and never left behind.

Nothing here knows what the workers do. `vector` (environments) and `learn.actors` (actors) bring their own messages;
`cluster` has the same pool for Ray actors.
"""
