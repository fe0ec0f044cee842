# spot: nn.DataParallel(model)
model = nn.DataParallel(model).eval()
