"""Devices as source writes them, and whether two of them differ."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeGuard

from diagnose.kinds import DeviceType
from diagnose.placement.model import Device, Evidence


class DeviceVariable(Device):
    """The device of a parameter or an attribute that nothing in the program gives a value: open until it is
    bound, and with it that of all that was computed from it.

    ``told`` looks for what says that it may be an accelerator; ``because`` is that, where nothing but it
    has bound the variable.
    """

    told: Callable[[], Evidence | None]
    because: Evidence | None = None
    _bound: Device | None = None

    def __new__(cls, told: Callable[[], Evidence | None]) -> DeviceVariable:
        """An open variable of its own."""
        found = super().__new__(cls, DeviceType.OPEN)
        found.told = told
        return found

    def bind(self, device: Device, because: Evidence | None = None) -> None:
        """Says which device it is."""
        self._bound, self.because = device, because

    @property
    def type(self) -> DeviceType:
        """Of the device that it is bound to."""
        return DeviceType.OPEN if self._bound is None else self._bound.type

    @property
    def number(self) -> int | None:
        """Of the device that it is bound to."""
        return None if self._bound is None else self._bound.number

    @property
    def home(self) -> bool:
        """Of the device that it is bound to."""
        return self._bound is not None and self._bound.home

    def __eq__(self, other: object) -> bool:
        """Whether it is bound to a device, or is the same variable."""
        return self is other or (self._bound is not None and self._bound == other)

    def __hash__(self) -> int:
        return id(self) if self._bound is None else hash(self._bound)


CPU = Device(DeviceType.CPU)
META = Device(DeviceType.META)
#: The accelerator that the program itself chose.
HOME = Device(DeviceType.CUDA, None, home=True)
SPLIT = Device(DeviceType.SPLIT)
#: The word for the number of the accelerator that ``cuda`` means.
CURRENT = "current_device"
#: The accelerator of a process's rank.
RANKED = Device(DeviceType.CUDA, None, home=True, ranked=True)
_RANK_WORD = re.compile(r"rank|local_?id", re.IGNORECASE)
_WRITTEN = re.compile(r"(cpu|meta|cuda|xpu|npu|mps|hpu|mlu|musa)(?::(\d+))?\Z")
_WITH_GPU = re.compile(r"((use|with|has|on|enable)_?)?(cuda|gpu)(_available)?", re.IGNORECASE)
_WITHOUT_GPU = re.compile(
    r"(no|not|without|disable)_?(use_?)?(cuda|gpu)|((use|force|on)_?)?cpu(_only)?", re.IGNORECASE
)
_DEVICE_WORD = re.compile(r"(^|_|\b)(device|dev|gpu|cuda)(_?id|_?str|_?name)?$", re.IGNORECASE)


def written(text: str) -> Device | None:
    """The device that a string names, None for one that names none."""
    found = _WRITTEN.match(text.strip())
    if found is None:
        return None
    kind, number = found.groups()
    if kind in ("cpu", "meta"):
        return Device(DeviceType(kind))
    return Device(DeviceType.CUDA, int(number) if number else None)


def named_so(word: str) -> bool:
    """Whether people who name a variable so keep a device in it."""
    return _DEVICE_WORD.search(word) is not None


def asks_for_gpu(word: str) -> bool | None:
    """What a flag of such a name is where there is a GPU: ``use_cuda`` holds, ``no_cuda`` does not."""
    if _WITHOUT_GPU.fullmatch(word):
        return False
    return True if _WITH_GPU.fullmatch(word) else None


def is_rank(word: str) -> bool:
    """Whether people who name a variable so keep a process's rank in it."""
    return _RANK_WORD.search(word) is not None


def differ(one: Device | None, other: Device | None) -> bool | None:
    """Whether two devices are not the same; None where the source does not tell."""
    if not is_known(one) or not is_known(other) or DeviceType.SPLIT in (one.type, other.type):
        return False if is_open(one) and one is other else None
    if one.type != other.type:
        return True
    if one.ranked != other.ranked and None in (one.number, other.number):
        # On all ranks but one; the device that the program was told may be that of its rank.
        return True if (other if one.ranked else one).number is not None else None
    if one.number == other.number:
        return False
    if one.number is None or other.number is None:
        return None
    return True


def is_known(device: Device | None) -> TypeGuard[Device]:
    """Whether anything is known of a device: None, and what a caller chooses, are not."""
    return device is not None and device.type != DeviceType.OPEN


def is_open(device: Device | None) -> TypeGuard[DeviceVariable]:
    """Whether a device is a variable that nothing has bound yet."""
    return device is not None and device.type == DeviceType.OPEN


def is_gpu(device: Device | None) -> TypeGuard[Device]:
    """Whether a device is known to be one accelerator."""
    return device is not None and device.type == DeviceType.CUDA


def is_host(device: Device | None) -> TypeGuard[Device]:
    """Whether a device is known to be the cpu."""
    return device is not None and device.type == DeviceType.CPU


def is_said(device: Device | None, printed: str) -> bool | None:
    """Whether a device may be the one that a message prints; None where it is not known."""
    said = written(printed)
    if not is_known(device) or said is None or device.type == DeviceType.SPLIT:
        return None
    return differ(device, said) is not True


def is_assumed(device: Device | None) -> bool:
    """Whether a device is the GPU that a name, or a module that nobody makes, stands for."""
    return is_gpu(device) and device.number is None and not device.ranked
