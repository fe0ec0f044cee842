# cause: optimizer-state
# spot: Net()
# devices: ;
def build(args):
    model = Net().cuda(args.gpu)
    optimizer = SGD(model.parameters())
    return model, optimizer
