"""Agents from strings: `random`, `uct:playouts=1000`, `./mine.py:Flat,playouts=50`. Ours are the entries of AGENTS."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from tengen.agents.agent import Agent, RandomAgent, SearchAgent
from tengen.agents.gomocup import GomocupAgent, GomocupEngine
from tengen.agents.gtp import GtpAgent, GtpEngine
from tengen.agents.learned import ALPHAGO_POLICY, ALPHAGO_VALUE, ROLLOUTS, PolicyAgent, judge_of, rollouts_of
from tengen.agents.options import Answers, Maker, Megabytes, NetName, Seconds, Threads
from tengen.agents.own import maker_of_file, packaged_makers
from tengen.agents.uci import load_uci
from tengen.knowledge.endgame import Endgame
from tengen.knowledge.evaluations import EVALUATIONS, evaluation_for
from tengen.knowledge.experts import Expert, expert_for
from tengen.knowledge.go import Area
from tengen.nets.policy9 import shipped_plane_nets
from tengen.nets.runtime import load_net, net_for
from tengen.rules.board import Between, OneOf
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game
from tengen.rules.plugins import Option, nearest_or_file, read_options
from tengen.search.alphabeta import AlphaBeta, Refinements
from tengen.search.alphago import AlphaGo
from tengen.search.evaluation import Plain
from tengen.search.evaluators import Cached, Evaluator, RandomSymmetry, Shared, SharedProver, Tempered, Uniform
from tengen.search.limits import Limit
from tengen.search.minimax import Minimax
from tengen.search.puct import DEFAULT_SIMULATIONS, Gumbel, Puct, usual_batch
from tengen.search.uct import Uct

SEED = Option(int, Between(0, 2**63 - 1), 1, "makes an agent repeat itself")
TIME = Option(float, Seconds(0.001, 86400), None, "seconds a move")
THREADS = Option(int, Threads(0, 1024), 0, "0 for all cores; short searches use one")
NODES = Option(int, Between(1, 10**12), None, "positions a move")
MEMORY = Option(int, Megabytes(1, 10**6), 128, "megabytes for its tables")
THREATS = Option(int, Between(0, 1), 1, "Gomoku: 1 to look for wins by fours and threes first")
LEAF_THREATS = Option(int, Between(0, 1), 0, "Gomoku: 1 to look for wins by fours and threes, at every leaf too")
ENDGAME = Option(int, Between(0, 60), 22, "Reversi: empty cells from which the end is played exactly")
EARLY = Option(int, Between(0, 1), 0, "1 to move as soon as no other move can still be visited as often")
EXPERTS_MEMORY, LEAVES_MEMORY = 64, 16  # megabytes, beside a net's tree
NET = Option(
    str,
    NetName(words=("uniform",)),
    None,
    "one we ship, an .onnx file, a run folder, or uniform: it knows nothing",
    is_required=True,
)


def make_uct(name: str, game: Game, options: dict[str, Any]) -> Agent:
    limit = Limit(time=options["time"], playouts=options["playouts"])
    search = Uct(game, options["exploration"], options["seed"], threads_of(options), options["memory"])
    return SearchAgent(name, game, search, limit)


def threads_of(options: dict[str, Any]) -> int:
    return options["threads"] or os.cpu_count() or 1


def make_minimax(name: str, game: Game, options: dict[str, Any]) -> Agent:
    limit = Limit(**{key: options[key] for key in ("time", "nodes", "depth")}).or_else(Limit(depth=2))
    return SearchAgent(name, game, Minimax(game, evaluation_of(game, options)), limit)


def make_alphabeta(name: str, game: Game, options: dict[str, Any]) -> Agent:
    limit = Limit(**{key: options[key] for key in ("time", "nodes", "depth")}).or_else(Limit(time=1.0))
    refinements = Refinements(quiescence=options["quiescence"])
    shares = 1 if expert_asked(game, options) is None else 2  # the expert has the other half
    own = max(1, options["memory"] // shares)
    search = AlphaBeta(game, evaluation_of(game, options), refinements, own)
    return SearchAgent(name, game, advised(game, search, options, own), limit)


def expert_asked(game: Game, options: dict[str, Any]) -> Expert | None:
    """Who knows some positions of the game exactly, if the options say that it is asked."""
    expert = expert_for(game)
    return expert if expert is not None and options[expert.option] else None


def advised(game: Game, search: Any, options: dict[str, Any], memory: int) -> Any:
    """The search, or the game's expert before it if the options ask for one; `memory` is the expert's megabytes."""
    if (expert := expert_asked(game, options)) is None:
        return search
    return expert.advise(expert.solver(game, memory), search, options[expert.option])


def make_strong(name: str, game: Game, options: dict[str, Any]) -> Agent:
    """The net that we ship for the game, with its expert; else alpha-beta where an evaluation knows what is good.

    None does in Go, nor in a game of one's own: there it is UCT.
    """
    net, time = net_for(game), f"time={options['time'] or 1}"
    is_known = not isinstance(evaluation_for(game), Plain | Area)
    kind = f"{LEARNED_BEST.format(net=net)}," if net else "alphabeta:" if is_known else "uct:"
    return load_agent(kind + time, game, **{key: options[key] for key in ("threads", "memory", "seed")})


def make_endgame(name: str, game: Game, options: dict[str, Any]) -> Agent:
    limit = Limit(time=options["time"], nodes=options["nodes"]).or_else(Limit(time=60.0))
    return SearchAgent(name, game, Endgame(game, options["memory"]), limit)


def make_puct(name: str, game: Game, options: dict[str, Any]) -> Agent:
    settings, expert = puct_settings(game, options), expert_asked(game, options)
    provers = []
    if expert is not None and expert.proves_leaves:
        most = min(threads_of(options), settings["batch"])
        provers = [expert.solver(game, LEAVES_MEMORY).wins for _ in range(most)]
    search = Puct(game, **settings, prover=SharedProver(provers) if provers else None)
    limit = replace(puct_limit(options), early=bool(options["early"]))
    return SearchAgent(name, game, advised(game, search, options, EXPERTS_MEMORY), limit)


def make_gumbel(name: str, game: Game, options: dict[str, Any]) -> Agent:
    own = {key: options[key] for key in ("considered", "noise")}
    return SearchAgent(name, game, Gumbel(game, **puct_settings(game, options), **own), puct_limit(options))


def make_alphago(name: str, game: Game, options: dict[str, Any]) -> Agent:
    limit = Limit(time=options["time"], playouts=options["playouts"]).or_else(Limit(playouts=DEFAULT_SIMULATIONS))
    limit = replace(limit, early=bool(options["early"]))
    threads = threads_of(options)
    share = options["lambda"]
    judge, policy = judge_of(game, options["policy"], options["value"] if share < 1 else "none")
    player = rollouts_of(game, ROLLOUTS[options["rollouts"]], policy, options["repeats"]) if share > 0 else None
    few = 1 if policy is None else threads  # where playouts are few, later ones should know of earlier ones
    batch = options["batch"] or (8 * threads if limit.playouts is None else max(few, min(limit.playouts // 400, 8)))
    settings = {key: options[key] for key in ("exploration", "urgency", "memory", "seed")}
    if options["urgency"] is None:
        settings["urgency"] = 0.0 if options["policy"] == "uniform" else Puct.urgency
    search = AlphaGo(game, judge, player, threads, rollouts=share, batch=batch, **settings)
    return SearchAgent(name, game, search, limit)


def make_policy(name: str, game: Game, options: dict[str, Any]) -> Agent:
    return PolicyAgent(name, game, net_of(game, options), options["temperature"], options["seed"])


def puct_limit(options: dict[str, Any]) -> Limit:
    return Limit(time=options["time"], simulations=options["simulations"]).or_else(
        Limit(simulations=DEFAULT_SIMULATIONS)
    )


def puct_settings(game: Game, options: dict[str, Any]) -> dict[str, Any]:
    batch = options["batch"] or usual_batch(puct_limit(options).simulations, threads_of(options))
    settings = {key: options[key] for key in ("exploration", "urgency", "rollouts", "memory", "seed")}
    return {"evaluator": evaluator_of(game, options), "batch": batch, **settings}


def evaluator_of(game: Game, options: dict[str, Any]) -> Evaluator:
    evaluator = net_of(game, options)
    if (threads := threads_of(options)) > 1:
        evaluator = Shared(evaluator, threads)
    if options["symmetry"]:
        evaluator = RandomSymmetry(evaluator, game, options["seed"])
    if options["temperature"] != 1:
        evaluator = Tempered(evaluator, options["temperature"])
    return Cached(evaluator, options["cache"]) if options["cache"] else evaluator


def net_of(game: Game, options: dict[str, Any]) -> Evaluator:
    return Uniform(game) if options["net"] == "uniform" else load_net(options["net"], game)


def evaluation_of(game: Game, options: dict[str, Any]) -> Any:
    chosen = options["evaluation"]
    name = None if chosen is None else list(EVALUATIONS)[chosen]
    return evaluation_for(game, name, options["region"], options.get("width", 0))


DEPTH_LIMITED = {
    "depth": Option(int, Between(1, 127), None, "plies; deeper and deeper if there is none"),
    "time": TIME,
    "nodes": NODES,
    "evaluation": Option(int, OneOf(*EVALUATIONS), None, "by default the game's own"),
    "region": Option(int, Between(0, 20), 2, "Gomoku: only points this near to a stone; 0 for all"),
}
LEARNED = {
    "net": NET,
    "simulations": Option(int, Between(1, 10**12), None, f"a move ({DEFAULT_SIMULATIONS}, unless time is given)"),
    "time": TIME,
    "batch": Option(int, Between(0, 127), 0, "leaves the net is asked about at once; 0: by simulations and threads"),
    "threads": Option(int, Threads(0, 1024), 0, "that share each batch; 0 for all cores"),
    "exploration": Option(float, Between(0, 100), Puct.exploration, "c of PUCT"),
    "urgency": Option(
        float, Between(-1, 2), Puct.urgency, "how much worse the untried is thought; −1: it is thought even"
    ),
    "temperature": Option(float, Between(0.1, 10), 1.0, "of the net's policy; above 1 the unlikely is tried more"),
    "rollouts": Option(float, Between(0, 1), Puct.rollouts, "share of a value that random moves to the end decide"),
    "memory": Option(int, Megabytes(1, 10**6), Puct.memory, "megabytes for its tree"),
    "cache": Option(int, Answers(0, 10**9), 0, "answers of the net that are remembered"),
    "symmetry": Option(int, Between(0, 1), 0, "1 to show the net each board under a random symmetry"),
    "seed": SEED,
}
LEARNED_BEST = "puct:net={net},temperature=1.8,threats=1,endgame=22"  # what `strong` plays, for a second
PRESETS = {  # the Gobang paper's algorithms 1 to 8
    "gobang1": "minimax:depth=2,evaluation=none,region=0",
    "gobang2": "minimax:depth=2,evaluation=gobang,region=0",
    "gobang3": "alphabeta:depth=4,evaluation=gobang,region=0,threats=0",
    "gobang4": "alphabeta:depth=5,evaluation=gobang,region=0,threats=0",
    "gobang5": "alphabeta:depth=4,evaluation=gobang-graded,region=0,threats=0",
    "gobang6": "uct:playouts=1000",
    "gobang7": "uct:playouts=2000",
    "gobang8": "uct:playouts=3000",
}
AGENTS = {
    "strong": Maker(
        "the strongest there is for a game: the net that comes with us, or a search without one (for 1 second)",
        {"time": TIME, "threads": THREADS, "memory": MEMORY, "seed": SEED},
        make_strong,
    ),
    "random": Maker(
        "plays anything that is legal",
        {"seed": SEED},
        lambda name, game, options: RandomAgent(name, game, options["seed"]),
    ),
    "minimax": Maker(
        "looks at everything, to the end or to a depth (2, unless a limit is given)", DEPTH_LIMITED, make_minimax
    ),
    "alphabeta": Maker(
        "principal variation search, deeper and deeper (for 1 second, unless a limit is given)",
        {
            **DEPTH_LIMITED,
            "width": Option(int, Between(0, 400), 16, "Gomoku: so many of the most promising points; 0 for all"),
            "threats": THREATS,
            "endgame": ENDGAME,
            "quiescence": Option(int, Between(0, 60), 16, "plies that threats are followed beyond the horizon"),
            "memory": MEMORY,
        },
        make_alphabeta,
    ),
    "endgame": Maker(
        "Reversi to its end, exactly: for positions with few empty cells (for 60 seconds, unless a limit is given)",
        {"time": TIME, "nodes": NODES, "memory": Option(int, Megabytes(1, 10**6), 256, "megabytes for its table")},
        make_endgame,
    ),
    "uct": Maker(
        "Monte Carlo tree search: UCB1 and random playouts",
        {
            "playouts": Option(int, Between(1, 10**12), None, "random games a move (1000, unless time is given)"),
            "time": TIME,
            "exploration": Option(float, Between(0, 100), 0.25, "C of UCB1"),
            "threads": THREADS,
            "memory": Option(int, Megabytes(1, 10**6), 512, "megabytes for its trees"),
            "seed": SEED,
        },
        make_uct,
    ),
    "puct": Maker(
        "AlphaZero's tree search, guided by a net",
        {**LEARNED, "early": EARLY, "threats": LEAF_THREATS, "endgame": ENDGAME.off()},
        make_puct,
    ),
    "gumbel": Maker(
        "PUCT with sequential halving at the root: for few simulations",
        {
            **LEARNED,
            "considered": Option(int, Between(1, 10**4), Gumbel.considered, "actions tried at the root"),
            "noise": Option(
                float, Between(0, 100), 0.0, "scale of the Gumbel numbers that draw them; 0: the likeliest"
            ),
        },
        make_gumbel,
    ),
    "alphago": Maker(
        "AlphaGo's tree search on 9×9 Go: a policy net, a value net, and games played to their end",
        {
            "policy": Option(
                str,
                NetName(shipped_plane_nets, ("patterns", "uniform")),
                ALPHAGO_POLICY,
                "a policy net (a file or a run folder), patterns, or uniform",
            ),
            "value": Option(
                str,
                NetName(shipped_plane_nets, ("none",)),
                ALPHAGO_VALUE,
                "a value net (a file or a run folder), or none",
            ),
            "lambda": Option(float, Between(0, 1), 0.5, "share of a leaf's value that played games decide"),
            "rollouts": Option(int, OneOf(*ROLLOUTS), 0, "who plays them: small patterns, the policy net, or chance"),
            "repeats": Option(
                int, Between(0, 1000), 0, "games from each leaf; 0: 8, or 1 if the policy net plays them"
            ),
            "playouts": Option(int, Between(1, 10**12), None, f"a move ({DEFAULT_SIMULATIONS}, unless time is given)"),
            "time": TIME,
            "batch": Option(int, Between(0, 127), 0, "leaves that are judged at once; 0: by playouts and threads"),
            "exploration": Option(float, Between(0, 100), 4.0, "c of PUCT"),
            "urgency": replace(LEARNED["urgency"], default=None),
            "threads": Option(int, Threads(0, 1024), 0, "0 for all cores"),
            "early": EARLY,
            "memory": LEARNED["memory"],
            "seed": SEED,
        },
        make_alphago,
    ),
    "policy": Maker(
        "what a net likes at first sight",
        {
            "net": NET,
            "temperature": Option(float, Between(0, 100), 0.0, "0 for its first choice; higher draws more evenly"),
            "seed": SEED,
        },
        make_policy,
    ),
    "gtp": Maker(
        "another engine for Go or Reversi, by its command line: gtp:gnugo --mode gtp --chinese-rules",
        {},
        lambda name, game, options: GtpAgent(game, GtpEngine(options["command"])),
        is_command=True,
    ),
    "gomocup": Maker(
        "another engine for Gomoku, by its command line: gomocup:./pbrain-rapfi",
        {},
        lambda name, game, options: GomocupAgent(game, GomocupEngine(options["command"])),
        is_command=True,
    ),
    "uci": Maker(
        "another engine for chess, by its command line and its options: uci:stockfish,skill level=0,time=1",
        {},
        lambda name, game, options: load_uci(options["command"], game),
        is_command=True,
    ),
}


def is_external(spec: str) -> bool:
    """Whether an agent is somebody else's process."""
    maker = AGENTS.get(spec.partition(":")[0])
    return maker is not None and maker.is_command


def brings_code(spec: str) -> bool:
    """Whether loading an agent runs what only the operator may name: a program, a file, an installed package."""
    return is_external(spec) or maker_named(spec) is None


def maker_named(spec: str) -> Maker | None:
    """Who of ours makes the agent of a spec."""
    name = spec.partition(":")[0]
    return AGENTS.get(PRESETS.get(name, name).partition(":")[0])


def agent_names() -> list[str]:
    """The names that a spec can begin with, beside files: ours, presets, and those that packages offer."""
    return [*AGENTS, *PRESETS, *packaged_makers()]


def maker_of(spec: str) -> tuple[Maker, str, str]:
    """Who makes the agent of a spec, what it is called, and the options that follow."""
    name, _, rest = spec.partition(":")
    if name not in (*AGENTS, *PRESETS) and (found := maker_of_file(spec)) is not None:
        return found  # a command line after gtp: may end in .py, too
    if name in PRESETS:
        name, _, preset = PRESETS[name].partition(":")
        rest = f"{preset},{rest}"
    maker = AGENTS.get(name) or packaged_makers().get(name)
    if maker is None:
        hint = "; a file's name ends in .py" if "/" in name else nearest_or_file(name, agent_names())
        raise BadParameter(f"no agent is called {name!r}{hint}")
    return maker, name, rest


def load_agent(spec: str, game: Game, **defaults: Any) -> Agent:
    """The agent of a spec, for one game. `defaults` stand in for options that the spec does not name."""
    if not isinstance(spec, str):
        raise BadParameter(f"an agent is named by a text, such as 'uct:playouts=1000', not by {spec!r}")
    if not isinstance(game, Game):
        raise BadParameter(f"load_agent takes a game, not {game!r}: load_agent({spec!r}, load_game('gomoku'))")
    maker, name, rest = maker_of(spec)
    if maker.is_command:
        return maker.make(spec, game, {"command": rest})
    given = {key: maker.options[key].read(key, value) for key, value in defaults.items() if key in maker.options}
    given |= read_options(rest, maker.options, name, spec)
    for key, option in maker.options.items():
        if option.is_required and key not in given:
            raise BadParameter(f"{spec}: {name} needs {key}=… ({option.about})")
    options = {key: given.get(key, option.default) for key, option in maker.options.items()}
    return maker.make(spec, game, options)
