# spot: nn.DataParallel(Net().cuda(1), device_ids=[0, 1])
model = nn.DataParallel(Net().to("cuda:0"), device_ids=[0, 1])
