# spot: images.numpy()
save(images.numpy())
