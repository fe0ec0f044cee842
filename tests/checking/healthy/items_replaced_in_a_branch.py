import sys

import torch


class Data:
    def __init__(self):
        self.rows = {"x": torch.rand(2, 2)}


def both(data, *, on_gpu):
    if on_gpu:
        data.rows["x"] = data.rows["x"].cuda()
        return data.rows["x"] + torch.ones(2, 2).cuda()
    return data.rows["x"] + torch.ones(2, 2)


rows = [torch.rand(2, 2)]
if len(sys.argv) > 3:
    rows[0] = rows[0].cuda()
    rows.append(torch.rand(2, 2).cuda())
    print(torch.cat(rows))
else:
    rows.append(torch.rand(2, 2))
    print(torch.cat(rows))
print(both(Data(), on_gpu=len(sys.argv) > 3))
