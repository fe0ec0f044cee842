"""What a repair says, in English and in Chinese."""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.model import Lang
from diagnose.repair.remarks import REMARKS

_WORDS: Mapping[str, Mapping[Lang, str]] = {
    # The outcome, in the first line.
    "proven": {"en": "repaired and proven", "zh": "已修复并验证"},
    "passes": {
        "en": "repaired and passes, but somebody has to decide whether it is meant so",
        "zh": "已修复并通过检查，但需由人判断是否符合本意",
    },
    "same-numbers": {
        "en": "repaired; the numbers are right, and not all guards hold",
        "zh": "已修复；数值正确，但有检查未通过",
    },
    "runs": {
        "en": "it runs to its end, and more is not known",
        "zh": "能运行到结束，其余未知",
    },
    "nothing-to-fix": {
        "en": "nothing to fix: it runs to its end as it is",
        "zh": "无需修复：程序本身能运行到结束",
    },
    "not-reproducible": {"en": "not reproducible here", "zh": "此处无法复现"},
    "not-repaired": {"en": "not repaired", "zh": "未能修复"},
    "spent": {
        "en": "(simulated GPUs: {gpus}, runs: {runs}, {seconds:.0f} s)",
        "zh": "（模拟 GPU：{gpus} 块，运行：{runs} 次，{seconds:.0f} 秒）",
    },
    # Before the first run, where the kernel has no boundary for it.
    "not-contained": {
        "en": "this system does not keep compiled code, and what the program starts, from writing outside"
        " the copy",
        "zh": "此系统无法阻止编译代码及程序启动的进程写到副本之外",
    },
    # What is being tried.
    "run": {"en": "run {number}: {aim}", "zh": "第 {number} 次运行：{aim}"},
    "run-each": {
        "en": "run {number}, {seconds:.1f} s each: {aim}",
        "zh": "第 {number} 次运行，每次约 {seconds:.1f} 秒：{aim}",
    },
    "as-it-is": {"en": "the program as it is", "zh": "原程序"},
    "trying": {
        "en": "edit {number} of at most {most}, {kind} at {file}:{line}",
        "zh": "第 {number} 处修改（至多 {most} 处），{file}:{line} 的 {kind}",
    },
    "without": {"en": "without {kind} at {file}:{line}", "zh": "去掉 {file}:{line} 的 {kind}"},
    "proving": {"en": "proving that it is right", "zh": "正在验证"},
    "form": {"en": "other edits of {file}", "zh": "{file} 的其他改法"},
    # What comes after the diff.
    "because": {"en": "Because", "zh": "原因"},
    "proof": {"en": "Proof", "zh": "检查"},
    "unexercised": {"en": "Not run", "zh": "未运行"},
    "more": {"en": "and {count} more", "zh": "等，另有 {count} 个"},
    "prove": {"en": "Prove", "zh": "验证"},
    "on-your-gpus": {"en": "on your GPUs: {command}", "zh": "在您的 GPU 上：{command}"},
    "on-your-gpus-cells": {
        "en": "on your GPUs: run the cells from top to bottom, after import diagnose; diagnose.install()",
        "zh": "在您的 GPU 上：先执行 import diagnose; diagnose.install()，再从头到尾运行各单元格",
    },
    "left": {"en": "Left", "zh": "仍失败"},
    "unfit": {
        "en": "no edit fits {file}, which has carriage returns without line feeds: save it with line feeds",
        "zh": "{file} 含有不带换行符的回车符，无法套用修改：请改用换行符保存",
    },
    "likely": {"en": "Likely", "zh": "可能"},
    "try": {"en": "Try", "zh": "可试"},
    "missing": {"en": "Missing", "zh": "缺少"},
    "fault": {
        "en": "edits that a fault of diagnose kept from being proposed: {fault}",
        "zh": "因 diagnose 自身故障而未能提出的修改：{fault}",
    },
    "log-proposes": {
        "en": "The log's report proposes this; it could not be tried:",
        "zh": "日志中的报错建议如下修改；此处无法试运行：",
    },
    "too-long": {
        "en": "It did not end in time (--timeout SECONDS allows more).",
        "zh": "程序未在时限内结束（可用 --timeout SECONDS 放宽）。",
    },
    "unguarded": {
        "en": 'Processes started by "spawn" run the script anew: what starts them belongs under'
        ' if __name__ == "__main__".',
        "zh": '以 "spawn" 启动的进程会重新执行脚本：启动它们的代码应放在 if __name__ == "__main__" 之下。',
    },
    "cut-short": {
        "en": "It ended in the middle (os._exit, a signal, or another program in its place): what comes"
        " after was not seen.",
        "zh": "程序中途终止（os._exit、信号，或被另一程序取代）：其后的内容未能看到。",
    },
    "other-failure": {
        "en": "It fails of something that is no device placement: {place}",
        "zh": "失败与设备放置无关：{place}",
    },
    "no-input": {
        "en": "Runs get nothing on standard input: give the program what it asks for as an argument.",
        "zh": "运行时标准输入为空：请改用参数提供程序所需的内容。",
    },
    "arguments": {
        "en": "Its arguments go after it: diagnose fix {script} --its --arguments",
        "zh": "脚本的参数写在脚本之后：diagnose fix {script} --its --arguments",
    },
    "of-a-package": {
        "en": "It is part of a package: diagnose fix -m {module}",
        "zh": "它属于一个包：请用 diagnose fix -m {module}",
    },
    "above": {
        "en": "What is missing lies in {above}; only {origin} was copied. Run diagnose fix in {above}.",
        "zh": "缺少的内容位于 {above}，而只复制了 {origin}。请在 {above} 中运行 diagnose fix。",
    },
    "refused": {
        "en": "Runs may write only to their copy of the folder, temporary folders and caches;"
        " --writable DIR allows more.",
        "zh": "运行时只能写入文件夹副本、临时目录和缓存；可用 --writable DIR 放宽。",
    },
    "no-exception": {
        "en": "It ends with status {status} and without an exception; its last words:",
        "zh": "程序以状态码 {status} 结束，没有异常；最后的输出：",
    },
    # Who proposes an edit.
    "values": {"en": "seen in the failing call: {title}", "zh": "由失败的调用可见：{title}"},
    "origins": {"en": "what fails comes from here: {title}", "zh": "出错的值来自此处：{title}"},
    "move": {"en": "move {names} to {device}", "zh": "把 {names} 搬到 {device}"},
    "present": {
        "en": "choose a GPU that is there, also where there are fewer",
        "zh": "只选用确实存在的 GPU，数量较少时也成立",
    },
    "call-it": {
        "en": "call the module, so that its weights are brought",
        "zh": "调用该模块，使其权重被取来",
    },
    "put-away-later": {
        "en": "put it away after its last use",
        "zh": "最后一次使用之后再移走",
    },
    "left-there": {
        "en": "leave what DataParallel has brought to each GPU there",
        "zh": "DataParallel 已把数据放到各 GPU，不要再搬移",
    },
    "headed": {
        "en": "let DataParallel begin with the GPU that was chosen, and use that one alone",
        "zh": "让 DataParallel 以所选的 GPU 为首，且只用这一块",
    },
    "leading": {
        "en": "let DataParallel begin with the GPU that the model is on",
        "zh": "让 DataParallel 以模型所在的 GPU 为首",
    },
    "following": {
        "en": "let the program's device be the first of DataParallel's",
        "zh": "让程序的设备成为 DataParallel 的第一块 GPU",
    },
    "unpinned": {
        "en": "do not pin batches that are on a GPU already",
        "zh": "批次已在 GPU 上，不要再锁页",
    },
    # The guards.
    "no-reference": {
        "en": "without device checks the program does not run either",
        "zh": "不检查设备时，原程序同样不能运行",
    },
    "output": {
        "en": "it prints the numbers that it was meant to",
        "zh": "输出的数值与预期一致",
    },
    "output-line": {
        "en": "line {line} of its output is {got!r}, meant: {meant!r}",
        "zh": "输出第 {line} 行为 {got!r}，预期：{meant!r}",
    },
    "output-length": {
        "en": "it prints {got} lines, meant: {meant}",
        "zh": "输出 {got} 行，预期 {meant} 行",
    },
    "more-trained-so": {
        "en": "{other}, for more parameters are trained",
        "zh": "{other}（因为训练的参数增多）",
    },
    "fewer-trained": {
        "en": "{count} parameters no longer reach the optimizer",
        "zh": "有 {count} 个参数不再传给优化器",
    },
    "more-trained": {
        "en": "{count} more parameters reach the optimizer than before",
        "zh": "传给优化器的参数比之前多 {count} 个",
    },
    "trained-otherwise": {
        "en": "trained parameters end with other values",
        "zh": "训练后的参数值与预期不同",
    },
    "trained": {
        "en": "all {count} trained parameters end with the values that they were meant to have",
        "zh": "全部 {count} 个训练参数的最终值与预期一致",
    },
    "gradients-cut": {
        "en": "{count} parameters get no gradient any more",
        "zh": "有 {count} 个参数不再得到梯度",
    },
    "unfilled": {
        "en": "it prints what {weight} gives, which the checkpoint lacks: its values are drawn",
        "zh": "输出取决于 {weight}，而检查点中没有它，其值是随机的",
    },
    "where-0": {"en": "without a GPU", "zh": "没有 GPU 时"},
    "where-1": {"en": "on one GPU", "zh": "在 1 块 GPU 上"},
    "where-2": {"en": "on 2 GPUs", "zh": "在 2 块 GPU 上"},
    "not-there-either": {
        "en": "{where} the program itself does not run",
        "zh": "{where}，原程序本身不能运行",
    },
    "there": {"en": "{where}: {told}", "zh": "{where}：{told}"},
    "it-runs": {"en": "it runs", "zh": "能运行"},
    "it-fails": {"en": "it fails", "zh": "运行失败"},
    "home-moved": {
        "en": "{name} ends on {now}, it was meant for {device}",
        "zh": "{name} 最终位于 {now}，预期为 {device}",
    },
    "homes": {
        "en": "every parameter and buffer ends on the device that it was meant for",
        "zh": "每个参数和缓冲区最终都位于预期的设备",
    },
    "more-on-cpu": {
        "en": "{count} more operators run on the cpu",
        "zh": "在 CPU 上运行的算子多了 {count} 个",
    },
    "copies-to-cpu": {
        "en": "line {line} copies from a GPU to the cpu",
        "zh": "第 {line} 行把数据从 GPU 复制到 CPU",
    },
    "on-gpu": {
        "en": "nothing moves from a GPU to the cpu",
        "zh": "没有数据或计算从 GPU 移到 CPU",
    },
    "hidden": {
        "en": "{name} is moved, and still registered nowhere: no state_dict saves it",
        "zh": "{name} 虽已搬移，但仍未注册，state_dict 不会保存它",
    },
    "state": {
        "en": "{name} enters or leaves state_dict(): a checkpoint saved before does not load",
        "zh": "{name} 进入或离开了 state_dict()，之前保存的检查点无法加载",
    },
    "hollow": {
        "en": "{name} holds memory that nobody wrote to",
        "zh": "{name} 的内存从未写入",
    },
    "put-away": {
        "en": "{name} is on a GPU now: the program keeps modules on the cpu to save memory",
        "zh": "{name} 现在位于 GPU：程序本是为节省显存才把模块放在 CPU",
    },
    "across": {
        "en": "line {line} copies between GPUs, and all layers are on {device}",
        "zh": "第 {line} 行在 GPU 之间复制，而所有层都在 {device}",
    },
    "literal": {
        "en": "line {line} says {device!r} where the program says {gone}",
        "zh": "第 {line} 行写成 {device!r}，而程序用的是 {gone}",
    },
    "copied": {
        "en": "line {line} copies the same tensor again and again",
        "zh": "第 {line} 行反复复制同一个张量",
    },
    "silent": {"en": "in silence: {kind}: {names}", "zh": "没有报错，但存在问题：{kind}：{names}"},
    "again": {
        "en": "each call of a model passes a second time",
        "zh": "模型的每次调用再执行一次仍通过",
    },
    "again-fails": {
        "en": "a second call of a model fails",
        "zh": "模型再次调用时失败",
    },
    "never-ran": {"en": "the edit in {name} never ran", "zh": "{name} 中的修改从未运行"},
    "exercised": {"en": "every edited line has run", "zh": "修改过的每一行都已运行"},
    "numbered": {
        "en": "line {line} names {device} by its number",
        "zh": "第 {line} 行用编号写死了 {device}",
    },
    "counted": {
        "en": "line {line} counts GPUs in a circle: {number} may be another one's",
        "zh": "第 {line} 行对 GPU 编号取模：{number} 可能落到别的 GPU 上",
    },
    "indexed": {
        "en": "line {line} brings all that is indexed to where {index} is, and not that there",
        "zh": "第 {line} 行把整个被索引的张量搬到 {index} 所在设备，而不是反过来",
    },
    "agreed": {
        "en": "the report of the failure points elsewhere than {file}:{line}: decide where it belongs",
        "zh": "失败报告所指之处并非 {file}:{line}：请判断应改何处",
    },
    "unopposed": {
        "en": "the report of the failure does not point there, and nothing better was found",
        "zh": "失败报告并未指向此处，但没有找到更好的改法",
    },
    "at-source": {
        "en": "it mends what is wrong where that comes from",
        "zh": "修改位于错误的源头",
    },
    "stopgap": {
        "en": "a stop-gap: {file}:{line} moves what is wrong",
        "zh": "权宜之计：{file}:{line} 只是在使用处移动张量",
    },
    "for-one-method": {
        "en": "line {line} brings {name} for one method, and {method} reads it as it is",
        "zh": "第 {line} 行只为一个方法移动 {name}，而 {method} 按原样读取它",
    },
    "learned": {
        "en": "line {line} keeps {name} as it is for ever: decide whether it is to be trained",
        "zh": "第 {line} 行让 {name} 永远不变：请判断它是否应当参与训练",
    },
    "alters": {
        "en": "line {line} changes what the caller's {name} keeps",
        "zh": "第 {line} 行改动了调用者的 {name} 所保存的内容",
    },
    "hops": {
        "en": "line {line} moves what it has moved elsewhere just before",
        "zh": "第 {line} 行又移动了刚刚移到别处的内容",
    },
    "planned": {
        "en": "{name} of line {line} is planned by the memory of the GPUs, and goes unused",
        "zh": "第 {line} 行的 {name} 按各 GPU 显存规划，却不再使用",
    },
    "kept-whole": {
        "en": "line {line} mends what a plan splits, which line {other} tells by {name} what stays whole",
        "zh": "第 {line} 行修补的是被拆分方案切开的部分，而第 {other} 行用 {name} 说明哪些类保持完整",
    },
    "gives-up": {
        "en": "a stop-gap: {file}:{line} undoes a move to the cpu, or leaves layers unregistered",
        "zh": "权宜之计：{file}:{line} 撤销了移到 CPU 的操作，或让层仍未注册",
    },
    "all-on-host": {
        "en": "all that goes by `{name}` would run on the cpu",
        "zh": "凡按 `{name}` 放置的部分都将在 CPU 上运行",
    },
    "scattered": {
        "en": "lines {lines} each move a part of what the model is given: move it once, before",
        "zh": "第 {lines} 行各自搬移模型输入的一部分：应在传入之前一次搬好",
    },
    "follows": {
        "en": "on another GPU than the one that the program names it runs, too",
        "zh": "把程序指定的 GPU 换成另一块，也能运行",
    },
    "stays-behind": {
        "en": "it writes down a GPU: where the program is told to use another one, it fails",
        "zh": "修改写死了一块 GPU：程序换用另一块时会失败",
    },
    "settled": {
        "en": "{told}, and nothing better was found",
        "zh": "{told}；没有找到更好的改法",
    },
    **REMARKS,
}


def say(lang: Lang, name: str, /, **values: object) -> str:
    """A sentence or a word of a repair, with what it is about filled in."""
    return _WORDS[name][lang].format(**values)


def names() -> Mapping[str, Mapping[Lang, str]]:
    """All that is said, in each language."""
    return _WORDS
