m = np.asarray(feats.detach().cpu().numpy())
