"""Controls a battery in a power grid by a decision transformer."""

import torch
from transformers import DecisionTransformerConfig, DecisionTransformerModel


class BatteryController:
    """Remembers the trajectory and asks the model for the next action."""

    def __init__(self, device, target_return=20.0):
        config = DecisionTransformerConfig(
            state_dim=4, act_dim=1, hidden_size=32, n_layer=2, n_head=2, max_ep_len=96
        )
        self.model = DecisionTransformerModel(config).to(device).eval()
        self.device = device
        self.states = torch.zeros(1, 0, 4, device=device)
        self.actions = torch.zeros(1, 0, 1, device=device)
        self.returns = torch.full((1, 1, 1), target_return, device=device)

    def act(self, state):
        self.states = torch.cat([self.states, state.to(self.device).view(1, 1, 4)], dim=1)
        self.actions = torch.cat([self.actions, self.actions.new_zeros(1, 1, 1)], dim=1)
        steps = self.states.shape[1]
        with torch.no_grad():
            _, actions, _ = self.model(
                states=self.states,
                actions=self.actions,
                returns_to_go=self.returns.expand(1, steps, 1),
                timesteps=torch.arange(steps, device=self.device).view(1, steps),
                return_dict=False,
            )
        return actions[0, -1]


if __name__ == "__main__":
    controller = BatteryController("cuda")
    for hour in range(4):
        print(hour, controller.act(torch.randn(4)).item())
