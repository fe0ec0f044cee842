z = mask * a.to(mask.device) + (1 - mask) * b
