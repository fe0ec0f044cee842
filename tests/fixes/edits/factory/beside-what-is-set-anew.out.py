boxes = ops.corners(boxes) * torch.Tensor([w, h, w, h]).to(boxes.device)
