return (image - self.mean.to(image.device)) / self.std.to(image.device)
