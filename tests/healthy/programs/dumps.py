"""Stacks that are printed while all is well: a watchdog's, a logger's, a debugger's, a slow callback's."""

import asyncio
import faulthandler
import logging
import threading
import time
import traceback
import tracemalloc
import warnings

logging.basicConfig(level="DEBUG", format="%(levelname)s:%(name)s:%(message)s")
tracemalloc.start(5)
warnings.simplefilter("always")


def read():
    open(__file__).read()  # noqa: PTH123, SIM115


async def slow():
    time.sleep(0.3)


faulthandler.dump_traceback_later(0.2, exit=False)
threading.Thread(target=time.sleep, args=(0.5,), name="prefetch").start()
time.sleep(0.4)
faulthandler.cancel_dump_traceback_later()
logging.getLogger("data").debug("cache miss on cuda:0, filled from cpu", stack_info=True)
read()
traceback.print_stack()
asyncio.run(slow(), debug=True)
print("epoch 1 done, no errors found")
