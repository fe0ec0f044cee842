# use-like-device-of-other
h, _ = self.rnn(x, torch.zeros(1, 4, 8).to("cuda"))
