# spot: nn.DataParallel(model)
model = nn.DataParallel(model.to("cuda:0")).eval()
