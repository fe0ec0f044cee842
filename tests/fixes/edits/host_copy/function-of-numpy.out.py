y = np.array(x.detach().cpu().numpy())
