"""A Hydra program whose configuration lists what device each part is on."""

import logging

import hydra
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

ConfigStore.instance().store(
    "config", {"device": "cpu", "teacher_device": "cuda:1", "steps": 3, "on_error": "raise"}
)
log = logging.getLogger(__name__)


@hydra.main(version_base=None, config_name="config")
def main(config):
    log.info("\n%s", OmegaConf.to_yaml(config))
    for step in range(config.steps):
        log.debug("step %d on %s", step, config.device)
    log.info("finished: %d errors", 0)


main()
