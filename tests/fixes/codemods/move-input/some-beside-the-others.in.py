# cause: input-not-moved
# spot: {k: v.cuda() for k, v in row.items() if k in KEYS} | {k: v for k, v in row.items() if k not in KEYS}
def bring(row):
    row = {k: v.cuda() for k, v in row.items() if k in KEYS} | {k: v for k, v in row.items() if k not in KEYS}
    return row
