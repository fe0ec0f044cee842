# spot: SGD(model.parameters())
# move: model.cuda(args.gpu)
def build(args):
    model = Net()
    optimizer = SGD(model.parameters())  # plain
    print(model)
    model.cuda(args.gpu)
    return model, optimizer
