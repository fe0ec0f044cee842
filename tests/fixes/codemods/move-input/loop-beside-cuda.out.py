# spot: for step, (images, targets) in enumerate(loader):
# name: x
# devices: device
# beside: images = images.cuda(gpu)
for step, (images, targets) in enumerate(loader):
    targets = targets.cuda(gpu)
    images = images.cuda(gpu)  # the targets, too?
    loss = criterion(model(images), targets)
