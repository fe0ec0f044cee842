# spot: model.cuda()
model = model.cuda()
