# cause: device-map-under-training
# spot: nn.DataParallel(net)
# beside: several or torch.cuda.device_count() > 1
# name: net
if (several or torch.cuda.device_count() > 1) and len({weight.device for weight in net.parameters()}) == 1:
    net = nn.DataParallel(net)
