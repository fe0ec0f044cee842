# spot: self.encoder.cuda()
# name: self.decoder
# owner: self.decoder
class Trainer:
    def __init__(self, encoder, decoder):
        self.encoder, self.decoder = encoder, decoder
        self.encoder.cuda()  # one GPU
