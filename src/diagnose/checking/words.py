"""The words of a check's text, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.model import Lang

#: What happened to a value (`diagnose.placement.model.Step`).
STEPS: Mapping[Lang, Mapping[str, str]] = {
    "en": {
        "made": "made",
        "loaded": "loaded",
        "moved": "moved",
        "kept": "kept",
        "held": "held",
        "put": "put in",
        "wrapped": "wrapped",
    },
    "zh": {
        "made": "创建",
        "loaded": "加载",
        "moved": "移动",
        "kept": "存为属性",
        "held": "放入容器",
        "put": "装入模型",
        "wrapped": "包装",
    },
}
#: What says that something is on a GPU, where nothing calls the code (`diagnose.kinds.EvidenceKind`).
BECAUSE: Mapping[Lang, Mapping[str, str]] = {
    "en": {
        "moved": "its function goes by a device ({place})",
        "module": "it is code of a module, which may be moved ({place})",
        "peer": "code beside it follows the device of what it is given ({place})",
        "chosen": "the code around it chooses a device ({place})",
        "attribute": "its class moves what it computes with ({place})",
        "package": "its package goes by a device ({place})",
    },
    "zh": {
        "moved": "所在函数会按设备放置张量（{place}）",
        "module": "属于模块的代码，而模块可能被移动（{place}）",
        "peer": "旁边的代码跟随其输入所在的设备（{place}）",
        "chosen": "周围的代码会选择设备（{place}）",
        "attribute": "所在的类会移动参与计算的值（{place}）",
        "package": "所在的包会按设备放置张量（{place}）",
    },
}
#: Why a fix of a safe rule is not safe at a place.
UNSAFE: Mapping[Lang, Mapping[str, str]] = {
    "en": {
        "unsure": "where the value comes from is likely, not certain",
        "fixed": "it hard-codes a device",
    },
    "zh": {
        "unsure": "该值经过的某一步只是可能，并不确定",
        "fixed": "它写死了设备",
    },
}
WORDS: Mapping[Lang, Mapping[str, str]] = {
    "en": {
        "line": "line {line}",
        "cell": "cell {cell} line {line}",
        "on": "on {device}",
        "meets": "meets {wanted} at {place}",
        "meets-other": "meets another device at {place}",
        "likely": "likely, not sure",
        "safe": "fix with --fix",
        "unsafe": "fix with --unsafe-fixes; {because}",
        "shown": "to be fixed manually; {because}",
        "unused": "ignores {id}, which is not found here",
        "slip": "{id} is not the id of a rule; did you mean {meant}?",
        "found": "{findings} in {files} of {checked}",
        "none": "nothing found in {checked}",
        "finding": "1 finding",
        "findings": "{n} findings",
        "file": "1 file",
        "files": "{n} files",
        "unknown": "{unknown} of {all} operations could not be analyzed",
        "between": "; ",
        "fixed": "{n} fixed",
        "would": "{n} would be fixed",
        "left": "{safe} fixable with --fix, {all} with --unsafe-fixes",
    },
    "zh": {
        "line": "第 {line} 行",
        "cell": "第 {cell} 个单元第 {line} 行",
        "on": "在 {device}",
        "meets": "在 {place} 与 {wanted} 相遇",
        "meets-other": "在 {place} 与另一设备相遇",
        "likely": "可能，并不确定",
        "safe": "--fix 可修复",
        "unsafe": "--unsafe-fixes 可修复；{because}",
        "shown": "需人工修复；{because}",
        "unused": "忽略了 {id}，但此处没有发现它",
        "slip": "没有名为 {id} 的规则；是否想写 {meant}？",
        "found": "{findings}，涉及 {files} 个文件（共 {checked}）",
        "none": "未发现问题（共 {checked}）",
        "finding": "1 个问题",
        "findings": "{n} 个问题",
        "file": "1 个文件",
        "files": "{n} 个文件",
        "unknown": "{all} 个运算中有 {unknown} 个无法判断",
        "between": "；",
        "fixed": "已修复 {n} 处",
        "would": "可修复 {n} 处",
        "left": "--fix 可修复 {safe} 处，--unsafe-fixes 可修复 {all} 处",
    },
}
