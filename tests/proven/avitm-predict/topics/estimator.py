import torch
from topics.autoencoder import TopicModel
from topics.running import predict, train
from torch.utils.data import TensorDataset


class TopicEstimator:
    def __init__(self, topics, cuda=False, batch_size=4):
        self.topics = topics
        self.cuda = cuda
        self.batch_size = batch_size
        self.autoencoder = None

    def fit(self, X):
        self.autoencoder = TopicModel(X.shape[1], self.topics)
        if self.cuda:
            self.autoencoder.cuda()
        train(
            TensorDataset(torch.from_numpy(X)),
            self.autoencoder,
            cuda=self.cuda,
            batch_size=self.batch_size,
        )

    def transform(self, X):
        self.autoencoder.eval()
        output = predict(
            TensorDataset(torch.from_numpy(X)),
            self.autoencoder,
            encode=True,
            batch_size=self.batch_size,
        )
        return output.numpy()
