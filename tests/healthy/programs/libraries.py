"""Short trainings with other libraries."""

import sys

import torch


def ignite():
    import logging

    from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
    from ignite.metrics import Accuracy, Loss
    from ignite.utils import setup_logger

    model, loss = torch.nn.Linear(4, 2), torch.nn.CrossEntropyLoss()
    data = [(torch.randn(8, 4), torch.randint(0, 2, (8,))) for _ in range(4)]
    trainer = create_supervised_trainer(
        model, torch.optim.SGD(model.parameters(), 0.1), loss, device="cpu"
    )
    judge = create_supervised_evaluator(
        model, {"accuracy": Accuracy(), "nll": Loss(loss)}, device="cpu"
    )
    trainer.logger = setup_logger("trainer", level=logging.DEBUG)

    @trainer.on(Events.EPOCH_COMPLETED)
    def evaluate(engine):
        judge.run(data)
        engine.logger.info("epoch %d %s", engine.state.epoch, judge.state.metrics)

    trainer.run(data, max_epochs=2)


def skorch():
    import numpy as np
    from skorch import NeuralNetClassifier

    net = NeuralNetClassifier(
        torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Softmax(-1)), max_epochs=4
    )
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    net.fit(x, (x.sum(1) > 0).astype("int64"))


def fastai():
    from fastai.data.core import DataLoaders
    from fastai.learner import Learner
    from fastai.metrics import accuracy

    x = torch.randn(64, 4)
    data = torch.utils.data.TensorDataset(x, (x.sum(1) > 0).long())
    loaders = DataLoaders(*(torch.utils.data.DataLoader(data, batch_size=8) for _ in range(2)))
    learner = Learner(loaders, torch.nn.Linear(4, 2), torch.nn.CrossEntropyLoss(), metrics=accuracy)
    learner.fit(2, 0.1)


def ppo():
    import gymnasium
    from stable_baselines3 import PPO

    model = PPO(
        "MlpPolicy",
        gymnasium.make("CartPole-v1"),
        n_steps=64,
        batch_size=32,
        verbose=1,
        device="auto",
    )
    model.learn(256)


def keras():
    import keras
    import numpy as np

    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)]
    )
    model.compile("adam", "mse", metrics=["mae"])
    model.summary()
    x = np.random.default_rng(0).normal(size=(64, 4))
    model.fit(x, x.sum(1), epochs=3, validation_split=0.25, verbose=2)


def spacy():
    import spacy
    from spacy.training import Example

    print(f"GPU: {spacy.prefer_gpu()}")
    nlp = spacy.blank("en")
    nlp.add_pipe("textcat").add_label("device")
    nlp.get_pipe("textcat").add_label("other")
    doc = nlp.make_doc("the tensor is on another device")
    examples = [Example.from_dict(doc, {"cats": {"device": 1.0, "other": 0.0}})]
    nlp.initialize(lambda: examples)
    for step in range(5):
        print(step, nlp.update(examples))
    nlp.evaluate(examples)


def ray():
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=True)

    @ray.remote
    def train(number):
        print(f"worker {number}: torch {torch.ones(2).device}, no GPU assigned")
        return number

    print(ray.get([train.remote(number) for number in range(3)]))
    ray.shutdown()


def deepspeed():
    import deepspeed

    model = torch.nn.Linear(4, 1)
    engine, *_ = deepspeed.initialize(
        model=model, model_parameters=model.parameters(),
        config={
            "train_micro_batch_size_per_gpu": 4, "optimizer": {"type": "AdamW", "params": {"lr": 0.1}},
            "zero_optimization": {"stage": 1}, "steps_per_print": 2, "wall_clock_breakdown": True,
        },
    )  # fmt: skip
    for _ in range(4):
        loss = engine(torch.randn(4, 4)).pow(2).mean()
        engine.backward(loss)
        engine.step()
        print("loss", loss.item(), "on", engine.device)


globals()[sys.argv[1]]()
