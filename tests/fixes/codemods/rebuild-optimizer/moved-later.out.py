# spot: SGD(model.parameters())
# move: model.cuda(args.gpu)
def build(args):
    model = Net()
    model.cuda(args.gpu)
    optimizer = SGD(model.parameters())  # plain
    print(model)
    return model, optimizer
