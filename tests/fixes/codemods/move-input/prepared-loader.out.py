# cause: input-not-moved
# spot: accelerator.prepare(model, train)
# name: x
# owner: valid
# beside: accelerator.prepare(model, train)
def main(accelerator, model, train, valid):
    model, train, valid = accelerator.prepare(model, train, valid)
    for x in valid:
        model(x)
