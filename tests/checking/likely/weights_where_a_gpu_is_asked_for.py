import torch


def place():
    return "cuda" if torch.cuda.is_available() else "cpu"


def restored(model, checkpoint):
    model.load_state_dict(torch.load(checkpoint))  # finds: checkpoint-location
    return model
