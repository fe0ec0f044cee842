"""Drafting a new incident from a traceback, and proving what kb/ says."""
