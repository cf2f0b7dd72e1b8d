"""The measurements behind every published number: `method` measures, `suites` say what, `publish` shows the results.

`synthetic` is the environment with a known cost per step that several suites, and `garrison profile`, use.
"""
