"""Measures the answers on labelled reports: folders of logs, each with a label that says the truth.

``labels`` reads the folders, ``runs`` diagnoses them, ``measures`` scores an answer against its label,
``summary`` makes the figures, ``document`` saves a run, ``comparison`` sets two runs side by side, and
``sections``, ``layout`` and ``plot`` show them.
"""
