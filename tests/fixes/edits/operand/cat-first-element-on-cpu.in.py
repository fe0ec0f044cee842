# move-tensor-at-line devices=cpu,cuda:0
m = torch.cat([p, m], 1)
