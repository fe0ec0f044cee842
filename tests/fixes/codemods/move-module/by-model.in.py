# spot: Head(width)
# wanted: cuda:0
# devices: (
def evaluate(model, loader, width):
    head = Head(width)
    return [head(model(x)) for x in loader]
