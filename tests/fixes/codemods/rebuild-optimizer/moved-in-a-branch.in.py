# spot: SGD(model.parameters())
# move: model.cuda()
optimizer = SGD(model.parameters())
if args.gpu:
    model.cuda()
