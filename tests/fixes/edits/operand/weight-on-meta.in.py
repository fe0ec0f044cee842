# move-tensor-at-line devices=cuda:0,meta
y = z @ head.weight.t()
