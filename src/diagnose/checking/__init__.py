"""Devices checked without a failure: files in, findings out, each with its rule, place and repair.

``files`` chooses the files, ``reading`` reads them, ``analysis`` asks `diagnose.placement`, ``judging``
makes the findings of one file and ``checking`` those of many, ``repairs`` edits, ``formats`` prints.
"""
