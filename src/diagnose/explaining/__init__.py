"""How an answer comes about, step by step, for those who work on diagnose: ``diagnose kb why FILE``.

An answer never imports this: the stages' own functions are called once more, so that what is told here is
what they do. In English only.
"""
