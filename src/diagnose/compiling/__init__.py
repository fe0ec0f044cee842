"""kb/, the source that people edit, compiled into the case base: ``source`` reads it, ``build`` writes.

Runs when the package is built and for contributors; an answer never imports it.
"""
