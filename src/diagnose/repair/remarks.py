"""What is said of a patch that is read with what stands around it, in English and in Chinese."""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.model import Lang

REMARKS: Mapping[str, Mapping[Lang, str]] = {
    "as-elsewhere": {
        "en": "enter the block that the program makes this call in elsewhere",
        "zh": "像程序别处那样，在同样的 with 块中调用",
    },
    "twice": {
        "en": "line {line} moves {name} again, which line {other} has just moved: that line is wrong",
        "zh": "第 {line} 行再次移动 {name}，而第 {other} 行刚移动过：应改那一行",
    },
    "taken": {
        "en": "{name}({given}) of line {line} is taken away for all that is handed over: decide whether"
        " nobody wants it",
        "zh": "第 {line} 行的 {name}({given}) 对所有传入者都被去掉：请判断是否无人需要它",
    },
    "carried-along": {
        "en": "give the batch a `to`, by which the library moves it",
        "zh": "为批次类型定义 to 方法，库会用它搬移批次",
    },
    "given-back": {
        "en": "line {line} brings back what {name}, which the caller gives, may be there to move",
        "zh": "第 {line} 行把调用者传入的 {name} 的结果移回原处，而该函数可能正是用来搬移的",
    },
    "left-alone": {
        "en": "line {line} moves {name}, and leaves {other}, which is made and given alike",
        "zh": "第 {line} 行移动 {name}，却不管以同样方式创建并一起返回的 {other}",
    },
    "nested": {
        "en": "go through one more kind of container",
        "zh": "再支持一种容器类型，逐项搬移",
    },
    "sent": {
        "en": "line {line} no longer sends a part of the model to {gone}, which the method is given",
        "zh": "第 {line} 行不再把模型的一部分送到方法得到的 {gone}",
    },
    "asked": {
        "en": "line {line} moves {name} only to ask where it is",
        "zh": "第 {line} 行移动 {name} 只是为了查询它在哪里",
    },
    "deaf": {
        "en": "line {line} moves what {name} gives, which is told the device: it is wrong there",
        "zh": "第 {line} 行移动 {name} 的返回值，而它已得到设备参数：错误在它内部",
    },
    "alike": {
        "en": "line {line} chooses between one thing and the same",
        "zh": "第 {line} 行在两个相同的结果之间选择",
    },
    "kept-out": {
        "en": "line {line} says that it is kept out of the module's state, and is registered now",
        "zh": "第 {line} 行注明不计入模块状态，现在却被注册",
    },
    "of-arrays": {
        "en": "line {line} asks {name} for what tensors have, in code of arrays: its caller brings it",
        "zh": "第 {line} 行对 {name} 使用张量的方法，而此处代码接受数组：应由调用者转换",
    },
    "untold": {
        "en": "line {line} moves what {name} makes, which takes a device and is not told it",
        "zh": "第 {line} 行移动 {name} 创建的对象，而它接受 device 参数却未得到",
    },
    "handed-on": {
        "en": "line {line} moves what {name} moves itself, too late: that is wrong there",
        "zh": "第 {line} 行移动了 {name} 自己也会移动的对象，只是太晚：错误在它内部",
    },
    "at-once": {
        "en": "line {line} makes something on {device} and takes it to the cpu at once",
        "zh": "第 {line} 行在 {device} 上创建后立即移到 CPU",
    },
    "inline": {
        "en": "line {line} fetches {name} in the midst of its call, and nobody puts it back",
        "zh": "第 {line} 行在调用中途取回 {name}，之后无人移走",
    },
    "flipped": {
        "en": "line {line} only turns an option around: its other value fails as before",
        "zh": "第 {line} 行只是翻转了选项：另一取值仍会失败",
    },
    "stays": {
        "en": "{name} stays on a GPU while {other} computes: the program puts it away before",
        "zh": "{other} 计算时 {name} 仍留在 GPU 上，而程序本会先把它移走",
    },
    "placed": {
        "en": "line {line} brings {name} to a GPU, where a library brings it itself",
        "zh": "第 {line} 行把 {name} 搬到 GPU，而库自己会搬",
    },
    "unnamed": {
        "en": "line {line} names a GPU, and the program names none: something else chooses it",
        "zh": "第 {line} 行写明了 GPU，而程序本身没有指定，由别处选择",
    },
    "measured": {
        "en": "line {line} makes in memory what the program only measures on the meta device",
        "zh": "第 {line} 行真的占用内存，而程序只是在 meta 设备上衡量大小",
    },
    "leaving": {
        "en": "line {line} carries a layer's values away from the layer's GPU",
        "zh": "第 {line} 行把某层的数据搬离该层所在的 GPU",
    },
    "after": {
        "en": "line {line} carries what the model gives to where something else was left",
        "zh": "第 {line} 行把模型的结果搬到别的张量滞留的设备",
    },
    "lapsing": {
        "en": "line {line} brings to a GPU for good what line {away} puts away: the next call fails",
        "zh": "第 {line} 行只搬一次到 GPU，而第 {away} 行会把它移走：下一次调用将失败",
    },
    "gathered": {
        "en": "{name} stays where a library has gathered the model that the program spreads over GPUs",
        "zh": "程序把模型分到多块 GPU，而 {name} 仍留在库把它归拢到的那一块",
    },
    "weights": {
        "en": "line {line} copies a layer's weights at each step: bring what they meet to them",
        "zh": "第 {line} 行每一步都复制某层的权重：应把与其运算的数据搬过去",
    },
    "emptied": {
        "en": "line {line} leaves its branch empty: what stood there is wanted in another mode",
        "zh": "第 {line} 行使该分支变空：其他模式仍需要原来的语句",
    },
    "absent": {
        "en": "line {line} moves {name}, which may be None there",
        "zh": "第 {line} 行搬移 {name}，而它在那里可能是 None",
    },
    "script": {
        "en": "line {line} asks for {name}, which the file binds only where it is run and not imported",
        "zh": "第 {line} 行使用 {name}，而该文件只在直接运行时才给它赋值",
    },
    "never-found": {
        "en": "line {line} asks for {key}, under which nothing is kept: it would be made anew each time",
        "zh": "第 {line} 行查找 {key}，但没有以此为键保存任何内容：每次都会重新创建",
    },
    "rows": {
        "en": "line {line} puts on a GPU all that {name} keeps, of which only rows are asked for",
        "zh": "第 {line} 行把 {name} 保存的全部数据放到 GPU 上，而程序只按行取用",
    },
    "bound-below": {
        "en": "line {line} asks in a class for {name}, which the file binds only below it",
        "zh": "第 {line} 行在类中使用 {name}，而该文件在类之后才给它赋值",
    },
    "unread": {
        "en": "nothing asks {name} any more: whoever sets it chooses nothing",
        "zh": "不再有代码读取 {name}：设置它已不起作用",
    },
    "for-gpus": {
        "en": "line {line} gives `cuda` the device {device}, which may be the cpu",
        "zh": "第 {line} 行把 {device} 传给 cuda，而它可能是 CPU",
    },
    "cached": {
        "en": "line {line} keeps in {name}, for all callers, what it has moved for one",
        "zh": "第 {line} 行把为某个调用者移动的值存进 {name}，供所有调用者使用",
    },
    "private": {
        "en": "line {line} asks for {name}, which is private to another class",
        "zh": "第 {line} 行使用了另一个类的私有属性 {name}",
    },
    "out-of-branch": {
        "en": "line {line} was a part of what the program does if {asked}: that would be done by halves",
        "zh": "第 {line} 行是程序在 {asked} 时所做的一部分：删去后只剩一半",
    },
    "filled": {
        "en": "line {line} makes the model without memory, and the program fills it with what it loads",
        "zh": "第 {line} 行不占内存地创建模型，程序随后用加载的权重填充它",
    },
    "left-whole": {
        "en": "line {line} moves the model where it is not spread, which is only done if {asked}",
        "zh": "第 {line} 行负责搬移未拆分的模型，而只有 {asked} 时才会拆分",
    },
    "made-to-fit": {
        "en": "line {line} no longer makes on {device} what belongs there, and moves it",
        "zh": "第 {line} 行不再直接在 {device} 上创建本属那里的值，而是再搬过去",
    },
    "global-rank": {
        "en": "line {line} takes {name}, a rank among all machines, where the program knows the local one",
        "zh": "第 {line} 行使用了全局序号 {name}，而程序知道本机序号",
    },
    "switched": {
        "en": "with {names} it runs, too",
        "zh": "设为 {names} 时也能运行",
    },
    "switch-fails": {
        "en": "with {name} set to {to} it fails: {error}",
        "zh": "把 {name} 设为 {to} 时失败：{error}",
    },
    "switch-fails-too": {
        "en": "with {name} set to {to} it fails with and without the edits: {error}",
        "zh": "把 {name} 设为 {to} 时，修改前后都会失败：{error}",
    },
    "switch-ignored": {
        "en": "{name} chooses where {part} is: {device}, and with the edits {now}",
        "zh": "{name} 决定 {part} 的位置：应在 {device}，修改后在 {now}",
    },
    "strayed": {
        "en": "line {line} moves what line {caller} alone hands over elsewhere: line {other} does not",
        "zh": "第 {line} 行移动的输入只有第 {caller} 行给错了设备，第 {other} 行给得正确",
    },
    "parted": {
        "en": "line {line} moves a part of the batch, and line {other} the rest: move it there",
        "zh": "第 {line} 行搬移批次的一部分，第 {other} 行搬移其余部分：应在后者处一并搬移",
    },
    "parts": {
        "en": "lines {line} and {other} each move what is made of {name}: move that once, before",
        "zh": "第 {line} 行和第 {other} 行各自搬移由 {name} 得到的值：应先搬移它一次",
    },
    "undone": {
        "en": "line {line} takes back what the line before brings to the cpu",
        "zh": "第 {line} 行撤销了前面移到 CPU 的操作",
    },
    "chosen": {
        "en": "line {line} no longer asks {gone}, with which the program may choose the cpu",
        "zh": "第 {line} 行不再使用 {gone}，而程序可用它选择 CPU",
    },
    "back": {
        "en": "line {line} makes {name} on a GPU, and line {other} brings it to the cpu: it belongs there",
        "zh": "第 {line} 行在 GPU 上创建 {name}，第 {other} 行又搬回 CPU：它本应在 CPU",
    },
}
