# spot: labels
# devices: ;
# wanted: cuda:0
def step(model, labels, device):
    return model(labels.to(device))
