# spot: rows, lengths, labels = rows, lengths, labels.to(gpu)
# cause: input-not-moved
# name: batch
# devices: gpu
def evaluate(net, loader, gpu):
    for rows, lengths, labels in loader:
        rows, lengths, labels = rows, lengths, labels.to(gpu)
        print(net(rows, lengths), labels)
