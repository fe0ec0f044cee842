# spot: model.add_adapter("nli")
# move: model.to(args.device)
def build(args):
    model = Net()
    model.add_adapter("nli")
    model.to(args.device)
    return model
