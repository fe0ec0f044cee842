"""A run told to wandb (offline), tensorboard and mlflow."""

import sys


def wandb():
    import wandb

    run = wandb.init(
        project="devices", config={"device": "cpu", "lr": 0.1}, settings={"disable_git": True}
    )
    for step in range(5):
        run.log({"loss": 1 / (step + 1), "errors": 0, "nan": 0})
    print("no nan in 5 steps")
    run.finish()


def mlflow():
    import logging

    import mlflow

    logging.basicConfig(level="INFO")
    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    with mlflow.start_run(run_name="cpu-run"):
        for step in range(3):
            mlflow.log_metric("loss", 1 / (step + 1), step)
            print(f"[{step}] loss: {1 / (step + 1):.3f} device: cpu")


def optuna():
    import optuna

    def objective(trial):
        x = trial.suggest_float("x", -1, 1)
        device = trial.suggest_categorical("device", ["cpu", "cuda:0"])
        for step in range(3):
            trial.report(x * step, step)
            if trial.should_prune():
                raise optuna.TrialPruned(f"{device} is slower")
        return x**2

    study = optuna.create_study(
        sampler=optuna.samplers.RandomSampler(3), pruner=optuna.pruners.MedianPruner(1, 0)
    )
    study.optimize(objective, n_trials=8)
    print(study.best_trial.params)


globals()[sys.argv[1]]()
