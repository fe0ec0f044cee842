# move-tensor-at-line devices=cpu,cuda:0 argument=tensors op=wrapper_CUDA_cat
m = torch.cat([p, m], 1)
