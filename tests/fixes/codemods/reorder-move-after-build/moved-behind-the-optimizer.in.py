# cause: optimizer-state
# spot: Net()
# devices: ;
def build(args):
    model = Net()
    optimizer = SGD(model.parameters())
    model.cuda(args.gpu)
    return model, optimizer
