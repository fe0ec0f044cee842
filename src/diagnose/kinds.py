"""What sorts of things the analysis and a recording tell apart. Plain enums: no string equals a member."""

from __future__ import annotations

from enum import Enum


class EventKind(Enum):
    """What happened to a value."""

    MADE = "made"  # a factory, a constructor or a library gave it
    LOADED = "loaded"  # it came from a file
    COMPUTED = "computed"  # an operation gave it
    SEEN = "seen"  # it was met first there: nobody saw it made
    MOVED = "moved"  # it was brought to a device
    COPIED = "copied"  # a copy of it was made, or moved
    DROPPED = "dropped"  # a copy of it was moved that nothing keeps
    GATHERED = "gathered"  # a library brought it together from several devices
    OFFLOADED = "offloaded"  # a library keeps it elsewhere while it does not run
    GIVEN_BACK = "given back"  # a trainer left it on the host when it was done
    READ = "read"  # it was looked up in a module that is offloaded
    KEPT = "kept"  # as an attribute of a module
    HELD = "held"  # in a list or dict
    STORED = "stored"  # in another object, or in an optimizer's state
    PUT = "put"  # as a layer or a weight of a module
    BOUND = "bound"  # to a name
    LISTED = "listed"  # as one of several items that an expression lists
    LEFT = "left"  # out where a function moves others
    WRAPPED = "wrapped"  # by a module for several GPUs
    FILLED = "filled"  # its memory got values, by whom is not known
    UNFILLED = "unfilled"  # on meta, by weights that were to give it values
    GROWN = "grown"  # new layers were put into it
    GROWN_APART = "grown apart"  # new layers were put into it, and left on the cpu
    STEPPED = "stepped"  # an optimizer made its state in a step


class EvidenceKind(Enum):
    """What says that a parameter of what nothing calls may be on an accelerator."""

    MOVED = "moved"  # its function moves others, or makes them on a device
    MODULE = "module"  # it is a method of a module
    PEER = "peer"  # others of its class, or its file, move what they are given, or follow it
    CHOSEN = "chosen"  # the code around it goes by a device that is chosen elsewhere
    ATTRIBUTE = "attribute"  # its class moves the attribute, or asks where it is
    PACKAGE = "package"  # another file of its package goes by a device


class ConstraintKind(Enum):
    """Why operands have to be on one device."""

    JOIN = "join"  # an operation computes with them
    CALL = "call"  # a module is called with them
    INDEX = "index"  # one is indexed by the others
    GENERATOR = "generator"  # one is drawn with the other
    HOST = "host"  # NumPy takes them
    KERNEL = "kernel"  # the kernels of a package run on a GPU only
    HOME = "home"  # DataParallel asks for the weights on its first GPU
    STATE = "state"  # an optimizer computes with its state
    META = "meta"  # values are asked of what has none
    LIBRARY = "library"  # they enter a call of which nothing is known
    HANDED = "handed"  # a model and tensors are handed to such a call
    ASKED = "asked"  # code that may refuse it asks where it is
    REFUSED = "refused"  # code refuses it there
    DISCARDED = "discarded"  # a move of it gives another tensor, which nobody keeps


class Origin(Enum):
    """Where a tensor comes from."""

    FACTORY = "factory"  # a function that makes tensors
    ARRAY = "array"  # NumPy
    LOAD = "load"  # a file
    BATCH = "batch"  # a loader, or what else hands out inputs
    LOADER = "loader"  # it is a loader's own
    ORDER = "order"  # the order in which rows are drawn, always on the cpu
    TOKENS = "tokens"  # a tokenizer
    GIVEN = "given"  # a parameter of what nothing calls
    WEIGHT = "weight"  # it is registered in a module
    OUTPUT = "output"  # a module
    COMPUTED = "computed"  # an operation with a weight
    GRADIENT = "gradient"  # it is the gradient of a weight
    STATE = "state"  # it is an optimizer's
    GENERATOR = "generator"  # it stands for a torch.Generator
    HOME = "home"  # it stands for the first GPU of DataParallel
    GROWN = "grown"  # it stands for layers that were put into a model
    LIBRARY = "library"  # a call of which nothing is known
    OTHER = "other"  # anything else


class DeviceType(Enum):
    """Of which type a device is, as far as source tells it."""

    CPU = "cpu"  # the host
    CUDA = "cuda"  # any accelerator
    META = "meta"  # shapes without memory
    SPLIT = "split"  # a library spreads a model over several
    OPEN = "open"  # what the caller of a function chooses
    OTHER = "other"  # one that only a message names


class OptionState(Enum):
    """How the options of a program are taken."""

    OPEN = "open"  # nothing is known of them, but for a device that one names
    DEFAULT = "default"  # as their defaults are
    TURNED_ON = "turned on"  # each flag is set, and the GPU where the default is the cpu
