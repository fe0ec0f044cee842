"""What a team's store remembers: reports, the failures that they are of, and what fixed these.

The command line looks failures up (`lookup`) without SQLAlchemy, which only writing needs (`store`).
"""
