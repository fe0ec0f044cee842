# cause: offloaded-to-cpu
# spot: words.weight
def nearest(words, row):
    return torch.cdist(row, words.weight).argmin()
