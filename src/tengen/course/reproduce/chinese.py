"""The reports of the two Chinese documents, in Chinese: what a page says, phrase by phrase.

A phrase is what stands between two tags. Each pattern is for a whole phrase; names of agents, moves and numbers stay.
"""

from __future__ import annotations

import re
from html import escape, unescape

PAGE = {
    r"Tengen: a document's experiment, repeated": "Tengen：重做文档中的实验",
    r"Beside the document": "与文档对照",
    r"中文": "English",
    r"the document": "文档",
    r"here": "此处",
    r"as there": "一致",
    r"differs": "不同",
    r"erratum": "原文有误",
    r"(Tengen \S+), seed (\d+) · (\d+) cores, (\S+), (Python \S+) · (\S+) · (.+)": (
        r"\1，种子 \2 · \3 核，\4，\5 · \6 · \7"
    ),
}
LECTURE = {
    r"Adversarial search: the lecture": "对抗搜索：讲义",
    r"Minimax, alpha-beta, bandits .*": (
        "极大极小、Alpha-Beta、多臂老虎机与蒙特卡洛树搜索：讲义算出的每个数，以及它的作业。"
        "叶节点的值属于 MAX；x 和 y 是从未检查的叶节点。"
    ),
    r"alpha-beta: the value of the tree": "Alpha-Beta：博弈树的值",
    r"leaves that are pruned": "被剪去的叶节点",
    r"where there are cuts": "发生剪枝的节点",
    r"the bound of the root at the end": "最后根节点的界",
    r"its own (max.*) is (\d)": r"原式 \1 等于 \2",
    r"UCB1 of (\S+)": r"\1 的 UCB1 值",
    r"Black's choice": "黑棋的选择",
    r"Black's choice by the lecture's own (.*)": r"按讲义自己的公式 \1，黑棋的选择",
    r"the example leaves out the 2 of its formula": "例题漏掉了公式中的 2",
    r"best order: power of all leaves, looked at \((\d+) moves, (\d+) plies\)": (
        r"最好的次序：检查的叶节点是总数的几次方（\1 个着法，\2 层）"
    ),
    r"random order: power of all leaves, looked at \((\d+) moves, (\d+) plies\)": (
        r"随机的次序：检查的叶节点是总数的几次方（\1 个着法，\2 层）"
    ),
    r"([\d.]+) h \(least: ([\d.]+)\)": r"\1 h（下限 \2）",
    r"tic-tac-toe by alpha-beta, (\d+) games": r"Alpha-Beta 下井字棋，\1 局",
    r"Reversi by MCTS \(1000 playouts\), (\d+) games": r"MCTS 下黑白棋（1000 次模拟），\1 局",
    r"the longest move \(a minute loses\)": "最长的一步（超过一分钟判负）",
    r"Every node that alpha-beta looked at": "Alpha-Beta 检查的每个节点",
    r"Games": "对局",
    r"node": "节点",
    r"moves": "行棋",
    r"value": "值",
    r"cut": "剪枝",
    r"root": "根",
    r"leaf": "叶",
    r"alpha cut: MIN can have (\S+) here, and MAX has (\S+) elsewhere": (
        r"α 剪枝：MIN 在此可得 \1，而 MAX 在别处已有 \2"
    ),
    r"beta cut: MAX can have (\S+) here, and MIN allows only (\S+) elsewhere": (
        r"β 剪枝：MAX 在此可得 \1，而 MIN 在别处只给 \2"
    ),
    r"tic-tac-toe by alpha-beta: (.*) began; (\S+)": r"Alpha-Beta 下井字棋：\1 先行；\2",
    r"Reversi by MCTS \(1000 playouts\): (.*) began; (\S+)": r"MCTS 下黑白棋（1000 次模拟）：\1 先行；\2",
}
GOBANG = {
    r"Gobang: nine algorithms": "五子棋：九种算法",
    r"Nine ways to play Gobang: (\d+) games of every pair on (\S+), .*": (
        r"九种算法两两对局，在 \2 棋盘上各 \1 局，每个开局（两步随机着法）双方轮流执黑。"
        "论文的图没有数字；正文所说的与我们的并列。论文的极大极小搜索到终局，或没有给出深度：我们只看两步。"
    ),
    r"move time of the network search, of minimax's": "网络搜索与极大极小的落子时间之比",
    r"move time of the network search, of alpha-beta's": "网络搜索与 Alpha-Beta 的落子时间之比",
    r"move time of the network search, of UCT's": "网络搜索与 UCT 的落子时间之比",
    r"([\d.]+) times": r"\1 倍",
    r"([\d.]+) ms a move beside ([\d.]+) ms": r"每步 \1 毫秒，对 \2 毫秒",
    r"([\d.]+) ms a move beside ([\d.]+) ms: here the classical .*": (
        r"每步 \1 毫秒，对 \2 毫秒：此处经典搜索编译为机器码，网络也不受 Python 拖累"
    ),
    r"network search, by board": "网络搜索，按棋盘",
    r"a larger board is more work for a network, .*": "棋盘越大，网络的计算越多，而网络搜索的时间大多花在这里",
    r"wins of the network search against minimax": "网络搜索对极大极小的胜率",
    r"wins of the network search against alpha-beta": "网络搜索对 Alpha-Beta 的胜率",
    r"wins of the network search against UCT": "网络搜索对 UCT 的胜率",
    r"(\d+%) of (\d+) \((\d+%) to (\d+%)\)": r"\2 局的 \1（\3 到 \4）",
    r"minimax without evaluation: not lost": "无评估函数的极大极小：不败",
    r"minimax without evaluation: won": "无评估函数的极大极小：胜",
    r"alpha-beta: gain of a fifth ply, against the other classical ones": "Alpha-Beta：深度加一的增益，对其他经典算法",
    r"UCT: gain of 1000 more playouts than (\d+), against the other classical ones": (
        r"UCT：\1 次之上再加 1000 次模拟的增益，对其他经典算法"
    ),
    r"(\S+%) \((\S+%) to (\S+%)\)": r"\1（\2 到 \3）",
    r"The algorithms": "算法",
    r"Figure 7: time a move against the move's number": "图 7：落子时间随步数的变化",
    r"Figure 8: wins, draws and losses": "图 8：胜、和、负",
    r"Every game": "全部对局",
    r"Ratings, games, and a board to replay them": "等级分、对局，以及可以重放的棋盘",
    r"(\S+): seconds a move": r"\1：每步秒数",
    r"move": "步数",
    r"Wins / losses / draws of the player on the left\.": "左侧一方的胜 / 负 / 和。",
    r"wins": "胜",
    r"losses": "负",
    r"draws": "和",
}
PATTERNS = [(re.compile(pattern), words) for pattern, words in (PAGE | LECTURE | GOBANG).items()]


def translated(phrase: str) -> str:
    """A phrase in Chinese; one that has no pattern stays as it is."""
    for pattern, words in PATTERNS:
        if found := pattern.fullmatch(phrase):
            return found.expand(words)
    return phrase


def translated_page(page: str) -> str:
    """A report's page with every phrase in Chinese, outside of styles and scripts."""
    parts = re.split(r"(<(?:style|script)\b.*?</(?:style|script)>)", page, flags=re.DOTALL)
    return "".join(part if number % 2 else in_chinese(part) for number, part in enumerate(parts))


def in_chinese(part: str) -> str:
    def between(found: re.Match[str]) -> str:
        phrase = unescape(found[1])
        return f">{found[1].replace(found[1].strip(), escape(translated(phrase.strip()), quote=False))}<"

    part = part.replace('<html lang="en">', '<html lang="zh">')
    return re.sub(r">([^<>]*[^<>\s][^<>]*)<", between, part)
