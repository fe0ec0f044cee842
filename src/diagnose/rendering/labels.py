"""The fixed words of an answer in each language."""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.model import Lang

LABELS: Mapping[Lang, Mapping[str, str]] = {
    "en": {
        "in": "in",
        "met": "met",
        "line": "line {line} of the input",
        "seen": "Seen",
        "known": "Known",
        "alike": "{percent} alike",
        "fix": "Fix",
        "or": "Or",
        "example": "for example",
        "verify": "Verify",
        "rank": "on rank {rank}",
        "ranks": "ranks {ranks} fail alike",
        "fallout": "Only followed from it: {errors}",
        "no-error": "No error found in {source}.",
        "other": "Not a device-placement failure: {family}.",
        "unknown": "A device-placement failure, but no cause is sure enough. The candidates:",
        "nearest": "The nearest documented incidents:",
        "standard input": "the input",
        "evidence": "Evidence",
        "incidents": "Documented incidents",
        "verification": "Verification program",
        "error": "Error",
        "decide": "To decide, find out:",
        "add": "Add",
        "run": "Run",
        "before": "before {place}",
        "either": " or ",
        "failed": "diagnose could not answer {source}: a fault of diagnose, not of your program. "
        "The input is untouched. DIAGNOSE_DEBUG=1 shows what went wrong, for a report of the fault.",
        "incomplete": "Left out through a fault of diagnose: {pieces} (DIAGNOSE_DEBUG=1 shows why).",
        "no-hook-answer": "diagnose: no answer for this failure "
        "(a fault of diagnose; DIAGNOSE_DEBUG=1 shows it)",
    },
    "zh": {
        "in": "位于",
        "met": "遇到",
        "line": "输入第 {line} 行",
        "seen": "依据",
        "known": "先例",
        "alike": "相似度 {percent}",
        "fix": "修复",
        "or": "或者",
        "example": "例如",
        "verify": "验证",
        "rank": "在进程 {rank}",
        "ranks": "进程 {ranks} 同样失败",
        "fallout": "仅由此引起：{errors}",
        "no-error": "{source} 中没有发现错误。",
        "other": "这不是设备放置错误：{family}。",
        "unknown": "这是设备放置错误，但没有足够确定的原因。候选原因：",
        "nearest": "最相近的已记录案例：",
        "standard input": "输入",
        "evidence": "依据",
        "incidents": "已记录的案例",
        "verification": "验证程序",
        "error": "错误",
        "decide": "要作出判断，请查明：",
        "add": "添加",
        "run": "运行",
        "before": "在 {place} 之前",
        "either": " 或 ",
        "failed": "diagnose 未能诊断{source}：这是 diagnose 自身的故障，与您的程序无关。"
        "输入未被改动。设置 DIAGNOSE_DEBUG=1 可查看原因，以便报告该故障。",
        "incomplete": "因 diagnose 自身的故障而缺少：{pieces}（设置 DIAGNOSE_DEBUG=1 可查看原因）。",
        "no-hook-answer": "diagnose：未能诊断此错误"
        "（diagnose 自身的故障；设置 DIAGNOSE_DEBUG=1 可查看原因）",
    },
}
