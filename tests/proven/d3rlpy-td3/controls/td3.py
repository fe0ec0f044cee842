import torch
from controls.ddpg import DDPG


class TD3(DDPG):
    def __init__(self, obs_size, action_size, sigma, clip):
        self.sigma = sigma
        self.clip = clip
        super().__init__(obs_size, action_size)

    def compute_target(self, x):
        with torch.no_grad():
            action = self.target_policy(x)
            # noise that smooths the target
            noise = self.sigma * torch.randn(action.shape)
            clipped = noise.clamp(-self.clip, self.clip)
            smoothed = action + clipped
            return self.target_critic(x, smoothed.clamp(-1.0, 1.0))
