# spot: optimizer.load_state_dict(ckpt["optimizer"])
def build(args):
    model = Net()
    optimizer = SGD([p for p in model.parameters() if p.requires_grad])
    if args.resume:
        optimizer.load_state_dict(ckpt["optimizer"])
    model = model.cuda(args.gpu)
    return model, optimizer
