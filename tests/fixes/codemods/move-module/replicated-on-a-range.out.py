# spot: nn.DataParallel(net, device_ids=list(range(torch.cuda.device_count())))
# cause: dataparallel-home-device
net = nn.DataParallel(net.to("cuda:0"), device_ids=list(range(torch.cuda.device_count())))
