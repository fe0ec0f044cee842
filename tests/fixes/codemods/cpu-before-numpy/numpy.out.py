# spot: images.numpy()
save(images.detach().cpu().numpy())
