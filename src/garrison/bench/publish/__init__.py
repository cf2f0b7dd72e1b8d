"""What is made from stored results: the page of a folder, and the tables of the README and the docs.

Everything here reads the JSON files and nothing else, so the same files give the same bytes. A chart on the page is a
function of `(page, result)` and its name in `bench_page.SECTIONS`. A table of the README or the docs is a function of
the folder in `tables` (or beside it) and a line in `documents.TABLES`.
"""
