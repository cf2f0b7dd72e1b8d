"""Watch episodes in a browser: one offline HTML file with the front end of `front/` and the episodes inside.

`page(data)` takes `{"title": ..., "episodes": [...], "pair": None}`, in the format of docs/watch.md. No agents here.
"""

from garrison.viewer.document import page

__all__ = ["page"]
