"""What the documents print, in their own words: each figure that a page compares stands in one of these passages.

A passage is the document's text with its line breaks and dollar signs left out. The tests look each of them up in the
documents, where these are at hand.
"""

from __future__ import annotations

SLIDES_STEPS = (  # after so many simulations, the cards that have changed: the cells that lead there, and the card
    (0, (2,), "Action = 2 N=0, W=0, Q=0 P=0.4"),
    (0, (3,), "Action = 3 N=0, W=0, Q=0 P=0.1"),
    (0, (6,), "Action = 6 N=0, W=0, Q=0 P=0.05"),
    (0, (7,), "Action = 7 N=0, W=0, Q=0 P=0.1"),
    (0, (8,), "Action = 8 N=0, W=0, Q=0 P=0.15"),
    (0, (9,), "Action = 9 N=0, W=0, Q=0 P=0.2"),
    (1, (), "Action = 1 N=2, W=0, Q=0 P=0"),
    (1, (2,), "Action = 2 N=1, W=0.1, Q=0.1 P=0.4"),
    (1, (2, 3), "Action = 3 N=0, W=0, Q=0 P=0.2"),
    (1, (2, 6), "Action = 6 N=0, W=0, Q=0 P=0.15"),
    (1, (2, 7), "Action = 7 N=0, W=0, Q=0 P=0.1"),
    (1, (2, 8), "Action = 8 N=0, W=0, Q=0 P=0.25"),
    (1, (2, 9), "Action = 9 N=0, W=0, Q=0 P=0.3"),
    (2, (), "Action = 1 N=3, W=0, Q=0 P=0"),
    (2, (2,), "Action = 2 N=2, W=-0.9, Q=-0.45 P=0.4"),
    (2, (2, 9), "Action = 9 N=1, W=1, Q=1 P=0.3"),
    (3, (), "Action = 1 N=4, W=0, Q=0 P=0"),
    (3, (9,), "Action = 9 N=1, W=0.2, Q=0.2 P=0.2"),
    (3, (9, 2), "Action = 2 N=0, W=0, Q=0 P=0.25"),
)
SLIDES_FINAL = {  # after 400 simulations, as the slides suppose
    2: "Action = 2: N=40, W=-35, Q=-0.875, P=0.4",
    3: "Action = 3: N=10, W=-9, Q=-0.9, P=0.1",
    6: "Action = 6: N=5, W=-5, Q=-1, P=0.05",
    7: "Action = 7: N=10, W=-8, Q=-0.8, P=0.1",
    8: "Action = 8: N=15, W=-10, Q=-0.6, P=0.15",
    9: "Action = 9: N=320, W=10, Q=0.03, P=0.2",
}
SLIDES_ROOT = "Action = 1 N=400, W=0, Q=0 P=0"
SLIDES_TIE = "Game tie! Reward = 0"
SLIDES = [*(card for _, _, card in SLIDES_STEPS), *SLIDES_FINAL.values(), SLIDES_ROOT, SLIDES_TIE]

GOMOKU8 = {
    "loss": "the loss value dropped rapidly from approximately 4.5 to 3.5",
    "end of loss": "eventually stabilizing around 2.75 by the 1200th batch",
    "even": "evenly matched, with the win rate fluctuating between 0.4 and 0.7",
    "rise": "starting from the 400th batch, the win rate showed explosive growth, rapidly breaking through 0.9",
    "end": "After 700 batches, AlphaZero maintained a nearly 100% win rate",
}
GO9 = {
    "reinforced": r"the final policy π_{RL} achieved an 80% winrate against π_{SL}",
    "lowest": r"the winrate of the training policy occasionally dropped to < 10\%",
    "match": "Boke Go won all ten games decisively",
    "time": "time controls of 60 seconds per move",
    "races": "weak in reading variations, especially in semeai (capturing races)",
}
GOBANG = {
    "time": "平均落子时间仅仅只有极大极小值算法的 1/196,Alpha-Beta 剪枝算法的 1/55,传统蒙特卡洛树搜索的 1/28",
    "boards": "这种改进算法在不同大小的棋盘下的落子决策时间无明显变化",
    "minimax": "对局平均不败率达到了97%,但是胜率却仅有约36%",
    "depth": "搜索深度加1,胜率仅仅提高了2%",
    "playouts": "模拟次数增加1000次,平均胜率增加不到1%",
    "wins": "平均胜率分别达到了75%、84%、87%",
}
LECTURE = {
    "value": r"&= \max(3, z, 2) \text{ where } z = \min(2, x, y) \leq 2 \\ &= 3.",
    "leaves": r"\max(\min(3, 12, 8), \min(2, x, y), \min(14, 5, 2))",
    "cut": r"so MAX would never choose C. Therefore just **prune** all successor of C",
    "root": r"MAX's decision at the root keeps A[\beta=2]",
    "7/10": r"\frac{7}{10} + \frac{\sqrt{\log(21)}}{10} = 1.252",
    "5/8": r"\frac{5}{8} + \frac{\sqrt{\log(21)}}{8} = 1.243",
    "0/3": r"\frac{0}{3} + \frac{\sqrt{\log(21)}}{3} = 1.007",
    "2/4": r"1 - \frac{2}{4} + \frac{\sqrt{\log(21)}}{4} = 1.372",
    "5/6": r"1 - \frac{5}{6} + \frac{\sqrt{\log(21)}}{6} = 0.879",
    "1/3": r"\frac{1}{3} + \frac{\sqrt{\log(21)}}{3} = 1.341",
    "1/1": r"\frac{1}{1} + \frac{\sqrt{\log(21)}}{1} = 2.745",
    "choice": "黑棋会选择局面 7/10 进行行棋",
    "UCB1": r"\sqrt{\frac{2\ln n}{n_j}}",
    "best order": r"O(b^{h/2})",
    "random order": r"O(b^{3h/4})",
    "minute": "一方超过1分钟, 则失败",
}
PASSAGES = {  # by document, as the texts begin
    "000": list(GOMOKU8.values()),
    "001": SLIDES,
    "002": list(GO9.values()),
    "003": list(GOBANG.values()),
    "004": list(LECTURE.values()),
}
