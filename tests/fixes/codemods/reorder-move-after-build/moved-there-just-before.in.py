# spot: grow(model)
# owner: model
def main(device, model):
    grow(model)
    model.to(device)
    return model
