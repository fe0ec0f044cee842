# spot: rows, lengths, labels = rows, lengths, labels.to(gpu)
# cause: input-not-moved
# name: rows
# devices:
# wanted: cuda:1
def evaluate(net, loader, gpu):
    for rows, lengths, labels in loader:
        rows, lengths, labels = rows, lengths, labels.to(gpu)  # as the loader gives them
        print(net(rows, lengths), labels)
