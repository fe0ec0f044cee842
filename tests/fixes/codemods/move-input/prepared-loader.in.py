# cause: input-not-moved
# spot: accelerator.prepare(model, train)
# name: x
# owner: valid
# beside: accelerator.prepare(model, train)
def main(accelerator, model, train, valid):
    model, train = accelerator.prepare(model, train)
    for x in valid:
        model(x)
