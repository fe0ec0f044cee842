# move-tensor-at-line argument=src op=wrapper_CUDA_scatter__src below=module
out.scatter_(1, ids, rows)
