# move-tensor-at-line devices=cuda:0,cpu argument=tensors op=wrapper_CUDA_cat
m = torch.cat([p, m], 1)
