# spot: nn.DataParallel(VAE(), device_ids=[main, 0])
# move: model.to("cuda:0")
model = nn.DataParallel(VAE(), device_ids=[main, 0])
model.to(f"cuda:{main}")
