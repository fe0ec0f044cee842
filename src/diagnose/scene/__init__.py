"""The report as an expert looks at it: each look is taken once, and handed on to all who ask."""

from diagnose.scene.meeting import Meeting, Operand, Place
from diagnose.scene.scene import Scene

__all__ = ["Meeting", "Operand", "Place", "Scene"]
