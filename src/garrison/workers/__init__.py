"""Worker processes: started, watched, replaced and never left behind."""
