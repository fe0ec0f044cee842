"""The compiled case base as an answer reads it: one SQLite file, or a team's database.

``store`` reads the compiled file in one go with the standard library's sqlite3; ``index`` and ``search``
find incidents; ``schema`` says what the tables are, for SQLAlchemy. `diagnose.compiling` fills them.
"""
