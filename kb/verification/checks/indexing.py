import linecache
import re

from harness import device_of, frames_of, placed_on

INDEXED = re.compile(
    r"([\w.]+)\s*(?:\[|\.(?:gather|scatter\w*|index_\w+|take\w*|masked_\w+)\()(.*)"
)


def check_indexing(watch):
    """an index or mask is on the cpu or with the tensor that it indexes"""
    for frame, line in frames_of(watch.error)[:2] if watch.error else ():
        named = placed_on(frame, line)
        for indexed, rest in INDEXED.findall(linecache.getline(frame.f_code.co_filename, line)):
            base = named.get(indexed)
            for name in re.findall(r"[A-Za-z_][\w.]*", rest) if base is not None else ():
                other = named.get(name)
                if other is not None and device_of(other) != device_of(base):
                    yield f"{name} is on {device_of(other)}, {indexed} on {device_of(base)}"
