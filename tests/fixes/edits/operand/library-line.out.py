hidden = hidden + residual.to(hidden.device)
