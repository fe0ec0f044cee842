import numpy as np
from controls.td3 import TD3

random = np.random.default_rng(0)
td3 = TD3(obs_size=3, action_size=2, sigma=0.2, clip=0.5)
for _ in range(2):
    obs, following = random.normal(size=(2, 8, 3))
    actions = random.normal(size=(8, 2))
    rewards, ends = random.normal(size=(8, 1)), np.zeros((8, 1))
    print(td3.update_critic(obs, actions, rewards, following, ends))
