"""Reliability reports: the same data as a page that opens without a network, and as tables in a terminal.

`services` reports on the platform's runs, `folder` on a folder that the command line wrote. The rest knows
neither: `source` is what they hand over, `data` words it, `render` and `text` lay it out.
"""
