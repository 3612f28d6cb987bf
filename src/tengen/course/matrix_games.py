"""Games in one move: payoffs in a matrix, both players choose at once.

In a zero-sum game the row player wins what the column player loses. Its value and a best mixed strategy of each player
are found exactly, in fractions, by the simplex method on the linear program of von Neumann's minimax theorem. Where
payoffs are pairs, the game need not be zero-sum; the prisoner's dilemma is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tengen.course.kuhn import kuhn_matrix
from tengen.course.pictures import Chart
from tengen.report.charts import Line
from tengen.rules.errors import BadParameter, TengenError

Matrix = Sequence[Sequence[Fraction]]
MOST_CHOICES = 64  # of a player
LONGEST_TEXT = 20_000
MOST_ROUNDS = 100_000
EXAMPLES = {
    "pennies": "1, -1; -1, 1",  # matching pennies
    "rps": "0, -1, 1; 1, 0, -1; -1, 1, 0",  # rock, paper, scissors
    "morra": "2, -3; -3, 4",  # two-finger Morra: value −1/12
    "saddle": "3, 1, 4; 1, 0, 2; 5, 1, 3",
    "prisoners": "-1:-1, -3:0; 0:-3, -2:-2",  # the lecture's: silent or betray, in years
}


class BadMatrix(TengenError):
    """Payoffs that cannot be read."""


@dataclass(frozen=True)
class PayoffGame:
    """What each player gets: [rows, columns]. In a zero-sum game the second player's are the first's, turned."""

    first: list[list[Fraction]]
    second: list[list[Fraction]]

    @property
    def is_zero_sum(self) -> bool:
        return self.sums() == [0]

    def sums(self) -> list[Fraction]:
        """What both get together, each sum once."""
        pairs = zip(self.first, self.second, strict=True)
        return sorted({a + b for ours, theirs in pairs for a, b in zip(ours, theirs, strict=True)})


@dataclass(frozen=True)
class MatrixSolution:
    """A zero-sum game's value, and a mixed strategy for each player that assures it."""

    value: Fraction
    rows: list[Fraction]
    columns: list[Fraction]


# Reading


def read_game(text: str) -> PayoffGame:
    """The game of a text such as `3, -1; 0, 1/2`, what the row player wins, or of pairs such as `-1:-1, -3:0; …`, first
    what the row player gets, then what the column player gets; or of the name of an example."""
    if text == "kuhn":
        return zero_sum(kuhn_matrix())
    text = EXAMPLES.get(text, text).replace("−", "-")
    if len(text) > LONGEST_TEXT:
        raise BadMatrix(f"the matrix has {len(text)} characters; {LONGEST_TEXT} is the most")
    rows = [[entry.strip() for entry in row.split(",")] for row in text.strip().strip(";").split(";")]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise BadMatrix(f"rows have {', '.join(map(str, sorted(lengths)))} payoffs; each has as many as the first")
    if not 1 <= len(rows) <= MOST_CHOICES or max(lengths) > MOST_CHOICES:
        raise BadMatrix(f"a player has 1 to {MOST_CHOICES} choices")
    if not any(":" in entry for row in rows for entry in row):
        return zero_sum([[payoff(entry) for entry in row] for row in rows])
    pairs = [[entry.split(":") for entry in row] for row in rows]
    if any(len(pair) != 2 for row in pairs for pair in row):
        raise BadMatrix("in a game of pairs, every payoff is written first:second")
    first, second = ([[payoff(pair[i]) for pair in row] for row in pairs] for i in (0, 1))
    return PayoffGame(first, second)


def zero_sum(payoffs: list[list[Fraction]]) -> PayoffGame:
    return PayoffGame(payoffs, [[-entry for entry in row] for row in payoffs])


def payoff(text: str) -> Fraction:
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise BadMatrix(f"{text!r} is no payoff; write rows as 3, -1; 0, 2") from None
    if abs(value) > 10**9 or value.denominator > 10**9:
        raise BadMatrix(f"{text} is too large or too fine; a payoff has nine digits at most")
    return value


# Pure strategies


def best_replies(game: PayoffGame) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The cells where the first player could do no better in the column, and the second no better in the row."""
    rows, columns = range(len(game.first)), range(len(game.first[0]))
    first = {(i, j) for j in columns for i in rows if game.first[i][j] == max(game.first[other][j] for other in rows)}
    second = {(i, j) for i in rows for j in columns if game.second[i][j] == max(game.second[i])}
    return first, second


def pure_equilibria(game: PayoffGame) -> list[tuple[int, int]]:
    """Cells from which neither player would go alone; of a zero-sum game, its saddle points."""
    first, second = best_replies(game)
    return sorted(first & second)


def dominant_choices(game: PayoffGame) -> tuple[list[int], list[int]]:
    """Choices that are strictly better than each other of that player's, whatever the other player does."""

    def find(payoffs: Matrix) -> list[int]:
        count = range(len(payoffs))
        return [
            i
            for i in count
            if len(payoffs) > 1
            and all(all(a > b for a, b in zip(payoffs[i], payoffs[k], strict=True)) for k in count if k != i)
        ]

    return find(game.first), find([list(column) for column in zip(*game.second, strict=True)])


def pure_guarantees(payoffs: Matrix) -> tuple[Fraction, Fraction]:
    """The row player's max-min and the column player's min-max, without mixing."""
    return max(min(row) for row in payoffs), min(max(column) for column in zip(*payoffs, strict=True))


# Mixed strategies


def solve(payoffs: Matrix) -> MatrixSolution:
    """The value of a zero-sum game, and best mixed strategies, exactly.

    With all payoffs made positive, the column player's program is: the greatest Σ y with A·y ≤ 1, y ≥ 0. Then the value
    is 1/Σ y, the column player mixes by y/Σ y, and the row player by the prices of the rows. Bland's rule (the first
    column that gains, the first row that ties) keeps the simplex method from going in circles.
    """
    shift = 1 - min(min(row) for row in payoffs)
    rows, columns = len(payoffs), len(payoffs[0])
    table = [
        [entry + shift for entry in row] + [Fraction(int(i == k)) for k in range(rows)] + [Fraction(1)]
        for i, row in enumerate(payoffs)
    ]
    table.append([Fraction(-1)] * columns + [Fraction(0)] * (rows + 1))  # the last row is what is to be made greatest
    basis = [columns + i for i in range(rows)]
    while (entering := next((j for j in range(columns + rows) if table[-1][j] < 0), None)) is not None:
        leaving = min(
            (i for i in range(rows) if table[i][entering] > 0),
            key=lambda i: (table[i][-1] / table[i][entering], basis[i]),
        )
        pivot(table, leaving, entering)
        basis[leaving] = entering
    total = table[-1][-1]
    weights = dict(zip(basis, (row[-1] for row in table), strict=False))
    return MatrixSolution(
        value=1 / total - shift,
        rows=[price / total for price in table[-1][columns : columns + rows]],
        columns=[weights.get(j, Fraction(0)) / total for j in range(columns)],
    )


def pivot(table: list[list[Fraction]], row: int, column: int) -> None:
    """Makes a column that of the unit vector with its 1 in `row`."""
    by = table[row][column]
    table[row] = [entry / by for entry in table[row]]
    for i, other in enumerate(table):
        if i != row and other[column] != 0:
            times = other[column]
            table[i] = [a - times * b for a, b in zip(other, table[row], strict=True)]


def row_assures(payoffs: Matrix, rows: Sequence[Fraction]) -> Fraction:
    """What the row player gets at least, if it mixes so: the least over the columns."""
    columns = zip(*payoffs, strict=True)
    return min(sum((p * a for p, a in zip(rows, column, strict=True)), Fraction(0)) for column in columns)


def column_concedes(payoffs: Matrix, columns: Sequence[Fraction]) -> Fraction:
    """What the column player gives at most, if it mixes so: the greatest over the rows."""
    return max(sum((q * a for q, a in zip(columns, row, strict=True)), Fraction(0)) for row in payoffs)


# Fictitious play


@dataclass(frozen=True)
class FictitiousPlay:
    """Both players answer what the other has done so far (Brown, 1951): bounds on the value after some rounds."""

    rounds: list[int]
    assured: list[float]  # what the row player's choices so far, as a mixture, get at least
    conceded: list[float]  # what the column player's give at most
    rows: list[float]  # how often each row was chosen, as a share
    columns: list[float]

    def chart(self, value: float) -> Chart:
        """Both bounds, and the value between them."""
        lines = [
            Line("the column player gives at most", list(zip(self.rounds, self.conceded, strict=True))),
            Line("the row player gets at least", list(zip(self.rounds, self.assured, strict=True))),
            Line("the value", [(self.rounds[0], value), (self.rounds[-1], value)]),
        ]
        return Chart("Fictitious play", lines, "rounds")


def play_fictitiously(payoffs: Matrix, rounds: int = 1000) -> FictitiousPlay:
    """Each round, both choose the first best reply to all that the other has chosen before (Robinson, 1951: the bounds
    meet at the value)."""
    if not 1 <= rounds <= MOST_ROUNDS:
        raise BadParameter(f"rounds={rounds}: 1 to {MOST_ROUNDS:,}")
    values = [[float(entry) for entry in row] for row in payoffs]
    columns_of = list(zip(*values, strict=True))
    got, given = [0.0] * len(values), [0.0] * len(columns_of)  # against what the other has chosen so far
    chosen = [0] * len(values), [0] * len(columns_of)
    told, assured, conceded = [], [], []
    for number in range(1, rounds + 1):
        row, column = got.index(max(got)), given.index(min(given))
        chosen[0][row] += 1
        chosen[1][column] += 1
        got = [a + b for a, b in zip(got, columns_of[column], strict=True)]
        given = [a + b for a, b in zip(given, values[row], strict=True)]
        told.append(number)
        assured.append(min(given) / number)
        conceded.append(max(got) / number)
    shares = [[count / rounds for count in each] for each in chosen]
    return FictitiousPlay(told, assured, conceded, *shares)
