# cause: device-map-under-training
# spot: Tagger()
# step: gathered accelerator.prepare(net)
net = Tagger().halve("cuda:0", "cuda:1")
net = accelerator.prepare(net)
