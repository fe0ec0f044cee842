# move-tensor-at-line argument=target op=wrapper_CUDA_nll_loss_forward
return F.cross_entropy(input, target.long(), reduction="none")
