import numpy as np
import torch
from topics.estimator import TopicEstimator

counts = np.random.default_rng(0).poisson(1.0, size=(12, 30)).astype(np.float32)
estimator = TopicEstimator(topics=4, cuda=torch.cuda.is_available())
estimator.fit(counts)
print(estimator.transform(counts).shape)
