# spot: SGD(model.parameters())
# move: model.cuda()
if args.gpu:
    model.cuda()
optimizer = SGD(model.parameters())
