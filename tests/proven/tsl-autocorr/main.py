import argparse

from series.experiment import Experiment

parser = argparse.ArgumentParser()
parser.add_argument("--use_gpu", action="store_true", help="train on a GPU")
args = parser.parse_args()
experiment = Experiment(args)
print(experiment.train())
