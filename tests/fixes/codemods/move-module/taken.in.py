# cause: module-not-moved
# spot: parameter scorer
# name: scorer
# beside: for row in rows:
# devices: where
def rate(scorer, rows, where):
    """The rates of rows."""
    found = []
    for row in rows:
        found.append(scorer(row.to(where)))
    return found
