# create-on-device
y = x * torch.Tensor([1])
