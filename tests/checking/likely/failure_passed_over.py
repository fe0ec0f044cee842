import numpy as np
import torch

for rows in (4, 5):
    heights = torch.rand(rows).cuda()  # finds: host-copy-needed
    try:
        print(np.median(heights))
    except Exception:
        continue
