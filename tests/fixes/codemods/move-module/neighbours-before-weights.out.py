# spot: model.add_adapter("nli")
# name: model
# owner: model
# wanted: cuda
# devices: next(model.parameters()).device
def build(args, model):
    model.to(args.device)
    model.add_adapter("nli")
    model.to(args.device)
