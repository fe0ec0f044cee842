# spot: model = build().to(device)
def main(device):
    model = build().to(device)
    add_task(model)
    return model
