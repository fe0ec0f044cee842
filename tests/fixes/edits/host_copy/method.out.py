y = x.detach().cpu().numpy()
