# spot: model.add_adapter("nli")
# move: model.to(args.device)
def build(args):
    model = Net()
    model.to(args.device)
    model.add_adapter("nli")
    return model
