from torch import nn


class TopicModel(nn.Module):
    def __init__(self, words, topics):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(words, 16), nn.Softplus())
        self.mean = nn.Linear(16, topics)
        self.decoder = nn.Linear(topics, words)

    def encode(self, batch):
        encoded = self.encoder(batch)
        return encoded, self.mean(encoded)

    def forward(self, batch):
        return self.decoder(self.encode(batch)[1].softmax(dim=1))
