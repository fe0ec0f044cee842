# spot: optimizer.load_state_dict(ckpt["optimizer"])
def build(args):
    model = Net()
    model = model.cuda(args.gpu)
    optimizer = SGD([p for p in model.parameters() if p.requires_grad])
    if args.resume:
        optimizer.load_state_dict(ckpt["optimizer"])
    return model, optimizer
