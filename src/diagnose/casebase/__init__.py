"""The case base: kb/ (the source, edited by hand) compiled into one SQLite file, and its readers.

``source`` reads and validates kb/, ``schema`` says what the tables are, ``build`` fills them through
SQLAlchemy, ``store`` reads the compiled file in one go with the standard library's sqlite3.
"""
