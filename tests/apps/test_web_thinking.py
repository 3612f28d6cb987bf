"""The web server over real sockets: agents that think for a page, and who thinks when."""

import asyncio
import json
import random
import threading

import pytest
import websockets
from judges import random_position
from web_site import LAST, PATIENCE, serving, wait_for

from tengen import load_game
from tengen.agents.specs import load_agent, maker_of
from tengen.apps.web import thinking, views
from tengen.apps.web.levels import LEVELS, allowed_agents, level_of, levels_of, spec_of
from tengen.apps.web.messages import Think
from tengen.apps.web.settings import ServerSettings
from tengen.apps.web.socket import Pages, Places
from tengen.apps.web.views import MoveLine, position_of
from tengen.nets import runtime
from tengen.rules import kernels
from tengen.rules.errors import TengenError
from tengen.rules.game import Position
from tengen.search.limits import Limit


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with serving(runs=tmp_path_factory.mktemp("runs"), requests=10_000, messages=10_000) as site:
        yield site


# Thinking.


@pytest.mark.parametrize("spec", ["gomoku", "renju", "reversi"])
def test_a_level_of_one_ply_plays_the_same_before_its_machine_code_is_there(spec, monkeypatch):
    game, rng = load_game(spec), random.Random(spec)
    level = level_of("medium", game)
    assert thinking.ONE_PLY.search(level.spec)
    positions = [random_position(game, rng, plies) for plies in (0, 1, 6, 25)]
    expected = [load_agent(level.spec, game, seed=1).choose(position) for position in positions]
    monkeypatch.setattr(kernels.Entry, "_is_ready", lambda *arguments: False)
    monkeypatch.setattr(thinking, "_ready", set())
    agent = thinking.player(level.spec, game, ServerSettings(), 1)
    assert isinstance(agent, thinking.Hasty)
    for position, native in zip(positions, expected, strict=True):
        found = agent.choose(position, agent.limit)
        assert (found.action, found.value, found.nodes) == (native.action, native.value, native.nodes)
    assert not isinstance(
        thinking.player("uct:playouts=10", load_game("tictactoe"), ServerSettings(), 1), thinking.Hasty
    )


def test_who_has_lost_passes_and_fills_no_eyes(site):
    moves = ["b1", "pass", "b2", "pass", "b3", "pass"]  # all of the board is Black's, and not enough
    with site.page() as page:
        assert page.think("go:size=3,komi=20", *moves, agent="uct:playouts=200")["move"] == "pass"


def test_thoughts_and_then_a_move(site):
    with site.page() as page:
        page.say({"id": 7, "type": "think", "game": "connect4", "moves": ["4"], "agent": "uct:time=50", "every": 0.05})
        heard = page.until(7, "thought") + page.until(7, "thought")
        page.say({"id": 8, "type": "stop", "of": 7})
        heard = [answer for answer in heard + page.until(7) if answer["type"] != "note"]
    *thoughts, last = heard
    assert len(thoughts) > 1
    assert {answer["type"] for answer in thoughts} == {"thought"}
    assert last["type"] == "move"
    assert last["move"] in "1234567"
    for answer in heard:
        assert -1 <= answer["value"] <= 1
        assert answer["winrate"] == (answer["value"] + 1) / 2
        assert answer["moves"][0]["move"] == answer["move"]
        assert sum(move["share"] for move in answer["moves"]) == pytest.approx(1)
        assert answer["moves"][0]["line"][0] == answer["move"]
        for move in answer["moves"]:
            assert move["cell"] == (5 * 7 + int(move["move"]) - 1) - 7 * (move["move"] == "4")
    nodes = [answer["nodes"] for answer in thoughts]
    assert nodes == sorted(nodes)


def test_a_move_and_its_answer_are_one_message(site):
    """Where a person's move leads, what the agent thinks, its move, and where that leads."""
    with site.page() as page:
        question = {"id": 1, "type": "think", "game": "connect4", "moves": ["4"], "agent": "uct:playouts=50"}
        page.say({**question, "view": True})
        shown, *thoughts, last = [answer for answer in page.until(1) if answer["type"] not in ("note", "waiting")]
    assert (shown["type"], shown["view"]["moves"], shown["view"]["to_play"]) == ("position", ["4"], 1)
    assert {answer["type"] for answer in thoughts} == {"thought"}
    assert (last["type"], last["view"]["moves"], last["view"]["to_play"]) == ("move", ["4", last["move"]], 0)
    assert shown["view"]["cells"][last["move"]] == last["cell"] == last["view"]["last"]
    assert last["view"] == {key: site.view("connect4", "4", last["move"])[key] for key in last["view"]}


def test_a_move_that_ends_the_game_or_is_refused(site):
    with site.page() as page:
        question = {"id": 1, "type": "think", "game": "tictactoe", "agent": "random", "view": True}
        page.say({**question, "moves": ["a3", "a1", "b3", "b1", "c3"]})
        shown, last = [answer for answer in page.until(1) if answer["type"] != "note"]
        assert (shown["view"]["outcome"], last["type"]) == ("first", "done")
        page.say({**question, "id": 2, "moves": ["a3", "a3"]})
        assert "a3 is occupied at move 2" in page.until(2)[-1]["error"]
        page.say({**question, "id": 3, "moves": ["a3"], "agent": "gtp:sh"})  # the move is shown all the same
        shown, last = page.until(3)
        assert (shown["type"], "no agent is called" in last["error"]) == ("position", True)


def test_a_game_that_goes_on_is_not_replayed(monkeypatch):
    """One more move is one step; whoever goes back and on again along the same line plays none."""
    stepped = []
    play = Position.play
    monkeypatch.setattr(Position, "play", lambda position, move: stepped.append(move) or play(position, move))
    line, moves = MoveLine(), ["e5", "d5", "e6", "d6", "e7"]

    def steps(spec, moves):
        """The moves that are played for a question; what is found is what the rules find from the start."""
        stepped.clear()
        found, played = line.position(spec, moves), list(stepped)
        assert found == position_of(spec, moves)
        return played

    game = "gomoku:size=9"
    assert [steps(game, moves[:ply]) for ply in range(6)] == [[], ["e5"], ["d5"], ["e6"], ["d6"], ["e7"]]
    assert steps(game, moves[:2]) == steps(game, moves) == []
    assert steps(game, [*moves[:3], "a1"]) == ["a1"]
    assert steps("gomoku:size=10", moves[:2]) == moves[:2]
    with pytest.raises(TengenError, match="e5 is occupied at move 3"):
        line.position("gomoku:size=10", ["e5", "d5", "e5"])
    assert steps("gomoku:size=10", moves[:3]) == ["e6"]
    monkeypatch.setattr(views, "LONGEST_KEPT", 2)
    assert [steps("gomoku:size=11", moves[:ply]) for ply in range(5)] == [[], ["e5"], ["d5"], ["e6"], ["e6", "d6"]]


def test_values_are_for_the_first_player(site):
    with site.page() as page:
        for moves, sign in ((["a1", "a3", "b1", "b3"], 1), (["a1", "a3", "b2", "b3", "a2"], -1)):
            answer = page.think("tictactoe", *moves, agent="alphabeta")
            assert answer["value"] == sign
            assert answer["winrate"] == (sign + 1) / 2
            assert answer["moves"][0]["value"] == sign


def test_an_agent_without_an_opinion(site):
    with site.page() as page:
        answer = page.think("reversi", agent="random")
        assert answer["type"] == "move"
        assert answer["value"] is None
        assert len(answer["moves"]) == 4


def test_all_levels_of_all_games_answer(site):
    games = ["tictactoe", "connect4", "gomoku:size=9", "renju:size=9", "reversi:size=6", "go:size=5"]
    with site.page() as page:
        for game in games:
            for level in LEVELS:
                answer = page.think(game, agent=level, limit={"time": 0.1})
                assert answer["type"] == "move", (game, level, answer)
                assert answer["move"] in site.view(game)["legal"]


def test_an_analysis_goes_on_until_it_is_stopped(site):
    with site.page() as page:
        page.say({"id": "a", "type": "think", "game": "gomoku:size=9", "moves": [], "agent": "uct", "analyse": True})
        page.until("a", "thought")
        page.until("a", "thought")
        page.say({"id": "s", "type": "stop", "of": "a"})
        assert page.until("a")[-1] == {"id": "a", "type": "done"}
    wait_for(lambda: site.pages.places.taken == 0)


def test_a_search_that_is_stopped_plays_its_best(site):
    with site.page() as page:
        for agent in ("uct:time=50", "alphabeta:time=50"):
            page.say({"id": "a", "type": "think", "game": "gomoku:size=9", "moves": ["e5"], "agent": agent})
            page.until("a", "thought")
            page.say({"id": "s", "type": "stop", "of": "a"})
            assert page.until("a")[-1]["type"] == "move"


def test_one_that_is_stopped_before_it_began_plays_all_the_same(site):
    with site.page() as page:
        page.say({"id": "a", "type": "think", "game": "gomoku:size=9", "moves": [], "agent": "uct:time=50"})
        page.say({"id": "s", "type": "stop", "of": "a"})
        assert page.until("a")[-1]["type"] == "move"


def test_another_question_in_a_slot_ends_the_earlier_one(site):
    with site.page() as page:
        question = {"type": "think", "game": "gomoku:size=9", "moves": [], "agent": "uct:time=50"}
        page.say({"id": "old", **question})
        page.until("old", "thought")
        page.say({"id": "new", **question, "limit": {"time": 0.05}})
        assert page.until("old")[-1]["type"] == "done"
        assert page.until("new")[-1]["type"] == "move"


def test_slots_go_on_side_by_side(site):
    with site.page() as page:
        question = {"type": "think", "game": "gomoku:size=9", "moves": [], "agent": "uct", "analyse": True}
        for slot in range(3):
            page.say({"id": slot, **question, "slot": slot})
        heard = set()
        while len(heard) < 3:
            answer = page.hear()
            assert answer["type"] in ("thought", "note", "waiting"), answer
            if answer["type"] == "thought":
                heard.add(answer["id"])
        assert "slots 0 to 2" in page.ask(**{**question, "slot": 3})["error"]


def test_a_game_that_is_over(site):
    with site.page() as page:
        assert "over" in page.think("tictactoe", "a3", "b2", "b3", "a1", "c3")["error"]


def test_a_level_stays_as_strong_as_it_is():
    """More time makes a beginner no stronger; the strongest takes what it is given, within bounds."""
    game, settings = load_game("reversi"), ServerSettings()
    asked = Think(id=1, type="think", game="reversi", moves=[], limit={"time": 50})
    beginner = load_agent("uct:playouts=20", game)
    assert thinking.limit_for(asked, beginner, False, settings) == Limit(playouts=20, time=50)
    assert thinking.limit_for(asked, beginner, True, settings) == Limit(time=50)
    plain = Think(id=1, type="think", game="reversi", moves=[])
    assert thinking.limit_for(plain, beginner, True, settings) == Limit(playouts=20, time=settings.longest)
    long = Think(id=1, type="think", game="reversi", moves=[], limit={"time": 3000}, analyse=True)
    assert thinking.limit_for(long, beginner, True, settings) == Limit(time=settings.longest_analysis)


def test_a_deeper_decision_is_kept():
    """A search that begins again each time may end with a short slice, which knows less than the one before."""
    game = load_game("connect4")
    agent = load_agent("alphabeta", game)
    found = list(thinking.decisions(agent, game.start(), 0.05, threading.Event(), Limit(time=0.4)))
    depths = [decision.depth for decision in found]
    assert depths == sorted(depths)


def test_nets_that_we_ship_make_the_higher_levels(tmp_path, monkeypatch):
    from nets.test_nets import write_net

    write_net(tmp_path / "tiny.onnx", "connect4")
    monkeypatch.setattr(runtime, "SHIPPED", tmp_path)
    specs = {level.name: level.spec for level in levels_of(load_game("connect4"))}
    assert "net=tiny" in specs["strongest"]
    assert "net=tiny" not in specs["beginner"]
    assert "net=" not in "".join(level.spec for level in levels_of(load_game("connect4:columns=8")))
    assert spec_of("policy:net=tiny", load_game("connect4"), ServerSettings()) == "policy:net=tiny"


def test_a_net_that_answers_nonsense_ends_its_search_and_nothing_else(site, tmp_path, monkeypatch):
    from nets.test_inspection import saying

    saying(tmp_path / "dizzy.onnx", logit=float("nan"))
    monkeypatch.setattr(runtime, "SHIPPED", tmp_path)
    with site.page() as page:
        for agent in ("puct:net=dizzy,memory=4", "policy:net=dizzy"):
            answer = page.think("tictactoe", agent=agent)
            assert answer["type"] == "error"
            assert answer["error"].startswith("dizzy.onnx is damaged: it answers nan")
            assert page.think("tictactoe", agent="random")["type"] == "move"


def test_compiling_is_said_once(monkeypatch):
    monkeypatch.setattr(kernels, "cache_for_all", lambda: None)  # nothing is found on the disk
    said, game = [], load_game("tictactoe").parameters
    one, other = kernels.entry(lambda game: 1), kernels.entry(lambda game: 2)
    assert thinking.aloud(said.append, lambda: one(game) + other(game)) == 3
    assert said == [thinking.COMPILING]
    assert thinking.aloud(said.append, one, game) == 1
    assert kernels.entry(lambda game: 3)(game) == 3
    assert said == [thinking.COMPILING]


# Who thinks when.


def test_a_search_stops_when_its_page_is_gone():
    with serving() as site:
        with site.page() as page:
            for slot in range(2):
                page.say(
                    {"id": slot, "type": "think", "game": "gomoku:size=9", "moves": [], "slot": slot}
                    | {"agent": ("uct", "alphabeta")[slot], "analyse": True}
                )
                page.until(slot, "thought")
            assert site.pages.places.taken == 2
            assert site.pages.agents == 2
        wait_for(lambda: site.pages.places.taken == 0)
        wait_for(lambda: not site.pages.pages)
        assert not site.pages.clients


class DeafSocket:
    """A page that asks for an analysis and then takes no answer after the third."""

    scope = {"client": ("192.0.2.1", 5)}

    def __init__(self):
        question = {"id": 1, "type": "think", "game": "connect4", "moves": [], "agent": "uct", "analyse": True}
        self.questions, self.answers = [json.dumps({**question, "every": 0.05})], []

    async def accept(self):
        pass

    async def receive(self):
        while not self.questions:
            await asyncio.sleep(1)
        return {"type": "websocket.receive", "text": self.questions.pop()}

    async def send_text(self, text):
        self.answers.append(text)
        while len(self.answers) > 2:
            await asyncio.sleep(1)


def test_a_page_that_does_not_listen_is_gone(monkeypatch):
    monkeypatch.setattr("tengen.apps.web.socket.PATIENCE", 0.2)

    async def converse():
        pages, deaf = Pages(ServerSettings()), DeafSocket()
        async with asyncio.timeout(PATIENCE):
            await pages.welcome(deaf)
            while pages.places.taken:
                await asyncio.sleep(0.01)
        assert len(deaf.answers) == 3
        assert not pages.pages

    asyncio.run(converse())


def test_others_get_their_turn():
    """One place, taken by an analysis without end: another page waits, is told so, and then gets its move."""
    with serving(searches=1, turn=0.1) as site, site.page() as first, site.page() as second:
        first.say({"id": 1, "type": "think", "game": "gomoku:size=9", "moves": [], "agent": "uct", "analyse": True})
        first.until(1, "thought")
        second.say({"id": 2, "type": "think", "game": "tictactoe", "moves": [], "agent": "random"})
        heard = [answer["type"] for answer in second.until(2)]
        assert "waiting" in heard
        assert heard[-1] == "move"
        first.until(1, "thought")  # and the first goes on


def test_places_go_to_clients_with_few_searches():
    """Whoever asks for ten searches does not keep the others from their first."""

    async def crowd():
        places, order = Places(2), []

        async def search(client):
            await places.take(client)
            order.append(client)
            await asyncio.sleep(0)
            places.leave(client)

        await asyncio.gather(*(search(client) for client in ["greedy"] * 10 + ["modest", "shy"]))
        assert places.free == 2
        assert places.taken == 0
        assert not places.searches
        return order

    order = asyncio.run(crowd())
    assert len(order) == 12
    assert order[:2] == ["greedy", "greedy"]  # nobody else was there
    assert set(order[2:5]) == {"greedy", "modest", "shy"}


@pytest.mark.parametrize("agent", ["minimax:depth=20", "alphabeta", "puct:net=uniform", "gumbel:net=uniform"])
def test_every_kind_of_search_can_be_stopped(site, agent):
    with site.page() as page:
        page.say(
            {"id": 1, "type": "think", "game": "connect4", "moves": ["4"], "agent": agent}
            | {"analyse": True, "every": 0.05}
        )
        page.until(1, "thought")
        page.say({"id": 2, "type": "stop", "of": 1})
        assert page.until(1)[-1]["type"] == "done"


def test_idle_agents_are_forgotten():
    with serving(idle=0.2) as site, site.page() as page:
        page.think("tictactoe", agent="uct:playouts=100")
        wait_for(lambda: site.pages.agents == 0)
        assert page.think("tictactoe", agent="uct:playouts=100")["type"] == "move"


def test_agents_of_a_page_are_bounded():
    with serving(agents=2) as site, site.page() as page:
        for playouts in range(10, 15):
            page.think("tictactoe", agent=f"uct:playouts={playouts}")
        assert site.pages.agents == 2


async def play_game(port, number, game, agent):
    """A page's game against itself; returns how many moves it had."""
    async with websockets.connect(f"ws://127.0.0.1:{port}/api/socket", open_timeout=PATIENCE) as page:
        moves = []
        for id_ in range(1000):
            await page.send(json.dumps({"id": id_, "type": "position", "game": game, "moves": moves}))
            view = await last_answer(page)
            if view["outcome"]:
                return len(moves)
            question = {"id": id_, "type": "think", "game": game, "moves": moves, "agent": agent}
            await page.send(json.dumps(question))
            moves.append((await last_answer(page))["move"])
    raise AssertionError(f"game {number} did not end")


async def last_answer(page):
    while True:
        answer = json.loads(await asyncio.wait_for(page.recv(), PATIENCE))
        assert answer["type"] != "error", answer
        if answer["type"] in LAST:
            return answer


def test_games_against_alphago_end_with_whatever_seeds_pages_draw():
    agent = "alphago:policy=uniform,value=none,playouts=4,memory=4"

    async def play_all(port):
        return await asyncio.gather(*(play_game(port, i, "go:size=3", agent) for i in range(20)))

    with serving() as site:
        assert all(asyncio.run(play_all(site.port)))


QUICK = {  # of the agents with a seed: a game they play, and options for a small search
    "strong": ("tictactoe", "time=0.01,"),
    "random": ("tictactoe", ""),
    "uct": ("tictactoe", "playouts=5,"),
    "puct": ("tictactoe", "net=uniform,simulations=5,"),
    "gumbel": ("tictactoe", "net=uniform,simulations=5,noise=1,"),
    "alphago": ("go:size=3", "policy=uniform,value=none,playouts=5,"),
    "policy": ("tictactoe", "net=uniform,temperature=1,"),
}


@pytest.mark.parametrize("name", [name for name in allowed_agents() if "seed" in maker_of(name)[0].options])
def test_a_page_may_name_any_seed(site, name):
    game, options = QUICK.get(name, ("gomoku:size=9", "playouts=5,"))  # presets
    with site.page() as page:
        for seed in (0, 2**23, 2**63 - 1):
            assert page.think(game, agent=f"{name}:{options}seed={seed}")["type"] == "move"
        for seed in (-1, 2**63):
            said = page.think(game, agent=f"{name}:{options}seed={seed}")["error"]
            assert said == f"seed={seed} is out of range: seed is 0 to 9223372036854775807"


def test_a_hundred_games_at_once():
    games = [
        ("tictactoe", "uct:playouts=20"),
        ("connect4", "random"),
        ("reversi:size=4", "beginner"),
        ("go:size=2", "random"),
    ]

    async def play_all(port):
        return await asyncio.gather(*(play_game(port, i, *games[i % len(games)]) for i in range(100)))

    with serving() as site:
        lengths = asyncio.run(play_all(site.port))
        assert len(lengths) == 100
        assert all(length >= 5 for length in lengths[::4])
        wait_for(lambda: site.pages.places.taken == 0 and not site.pages.pages)
