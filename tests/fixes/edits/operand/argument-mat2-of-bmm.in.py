# move-tensor-at-line argument=mat2 op=wrapper_CUDA_bmm below=module
s = torch.bmm(q, k)
