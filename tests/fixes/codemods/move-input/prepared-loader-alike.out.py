# cause: input-not-moved
# spot: accelerator.prepare(model, train_loader, optimizer)
# name: x
# owner: eval_loader
# beside: accelerator.prepare(model, train_loader, optimizer)
def main(accelerator, model, train_loader, eval_loader):
    model, train_loader, eval_loader, optimizer = accelerator.prepare(model, train_loader, eval_loader, optimizer)
    for x in eval_loader:
        model(x)
