# cause: offloaded-to-cpu
# spot: table = words.weight
def look(words, ids):
    table = words.weight
    return F.embedding(ids, table).mean(1) + table.mean()
