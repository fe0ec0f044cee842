# spot: model.cuda()
model = model.to_empty(device="cuda")
model.apply(initialise)
