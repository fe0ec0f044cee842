rows = np.stack([out.mean(0).detach().cpu().numpy() for out in outputs])
