# spot: model.add_adapter("nli")
# owner: model
model.to(device)
model.add_adapter("nli")
train(model)
