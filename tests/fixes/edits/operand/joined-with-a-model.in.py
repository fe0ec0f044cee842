# move-tensor-at-line
y = torch.cat([x, model])
