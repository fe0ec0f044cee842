# move-tensor-at-line devices=cuda:0,cpu
m = torch.cat([p, m], 1)
