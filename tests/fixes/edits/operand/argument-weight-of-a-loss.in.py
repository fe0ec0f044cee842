# move-tensor-at-line argument=weight op=wrapper_CUDA_nll_loss_forward below=module
l = F.cross_entropy(out, y, weight=self.w)
