# cause: offloaded-to-cpu
# spot: table = words.weight
def look(words, ids):
    print(ids.shape)
    return words(ids).mean(1)
