"""Measures the answers on labelled reports: folders of logs, each with a label that says the truth.

``labels`` reads the folders, ``running`` diagnoses them, ``measures`` scores an answer against its label,
``summary`` makes the figures, ``document`` saves a run, ``comparing`` sets two runs side by side, and
``sections``, ``layout`` and ``plot`` show them.
"""
