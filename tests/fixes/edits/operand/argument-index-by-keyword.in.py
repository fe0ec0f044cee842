# move-tensor-at-line argument=index op=wrapper_CUDA_gather below=module
p = torch.gather(input=logp, dim=-1, index=ids)
