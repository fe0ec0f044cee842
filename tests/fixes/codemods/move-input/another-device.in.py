# spot: labels
# devices: ;
# wanted: cuda:1
def step(model, labels, device):
    return model(labels)
