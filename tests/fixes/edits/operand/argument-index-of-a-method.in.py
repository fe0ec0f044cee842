# move-tensor-at-line argument=index op=wrapper_CUDA_gather below=module
p = logp.gather(-1, ids)
