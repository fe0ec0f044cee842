# cause: offloaded-to-cpu
# spot: table = words.weight
def look(words, ids):
    table = words.weight
    print(ids.shape)
    return F.embedding(ids, table).mean(1)
