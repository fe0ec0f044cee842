# create-on-device
boxes = ops.corners(boxes) * torch.Tensor([w, h, w, h])
