import numpy as np
import torch
from voices import Speaker

voice = Speaker.from_pretrained("small").to("cuda")
text = torch.zeros(1, 8, dtype=torch.long, device="cuda")
wave = voice.generate(text)  # finds: host-copy-needed
np.save("wave.npy", wave)
