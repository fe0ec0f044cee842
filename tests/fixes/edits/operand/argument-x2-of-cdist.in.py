# move-tensor-at-line argument=x2 op=wrapper_CUDA___cdist_forward below=module
d = torch.cdist(z, centers)
