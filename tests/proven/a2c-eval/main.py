import torch
from actors.envs import make_envs
from actors.policy import Policy
from actors.storage import Steps


def main():
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    envs = make_envs(4, device)
    policy = Policy(envs.size, actions=3).to(device)
    optimizer = torch.optim.RMSprop(policy.parameters())

    steps = Steps(5, 4, envs.size)
    steps.obs[0].copy_(envs.reset())
    steps.to(device)
    for step in range(5):
        with torch.no_grad():
            value, action = policy.act(steps.obs[step])
        steps.insert(step, *envs.step(action), action)
    loss = (policy.value(steps.obs[:-1]) - steps.rewards).pow(2).mean()
    loss.backward()
    optimizer.step()

    eval_envs = make_envs(4, device)
    obs = eval_envs.reset()
    rewards = []
    while len(rewards) < 3:
        with torch.no_grad():
            _, action = policy.act(obs, deterministic=True)
        obs, reward = eval_envs.step(action)
        rewards.append(reward.mean().item())
    print(rewards)


main()
