# spot: model.cuda()
model = model.cuda()
model.apply(initialise)
