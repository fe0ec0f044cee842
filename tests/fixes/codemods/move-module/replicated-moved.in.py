# cause: dataparallel-home-device
# spot: model.to("cuda:0")
def build(device_ids):
    model = nn.DataParallel(VAE(), device_ids=device_ids)
    model.to("cuda:0")
