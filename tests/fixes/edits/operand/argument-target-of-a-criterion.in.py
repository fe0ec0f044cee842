# move-tensor-at-line argument=target op=wrapper_CUDA_nll_loss_forward below=module
loss = criterion(out, y)
