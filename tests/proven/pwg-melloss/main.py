import torch
from vocoder.losses import MelLoss
from vocoder.training import Trainer


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    config = {"use_mel_loss": True, "num_mels": 8, "steps": 2}
    model = {"generator": torch.nn.Conv1d(4, 1, 9, padding=4).to(device)}
    optimizer = {"generator": torch.optim.Adam(model["generator"].parameters())}
    criterion = {"waveform": torch.nn.L1Loss().to(device)}
    if config.get("use_mel_loss", False):
        criterion["mel"] = MelLoss(
            fft_size=64,
            hop_size=16,
            num_mels=config["num_mels"],
        )
    else:
        config["use_mel_loss"] = False
    batches = [(torch.randn(2, 4, 256), torch.randn(2, 1, 256)) for _ in range(config["steps"])]
    trainer = Trainer(batches, model, criterion, optimizer, config, device)
    trainer.run()


main()
