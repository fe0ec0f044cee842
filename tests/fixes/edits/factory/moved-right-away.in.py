# create-on-device
h = x + torch.zeros(1, 4, 8).cuda()
