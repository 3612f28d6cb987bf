"""What there is to choose from: games, agents, presets of training. Each list in words, or as JSON."""

from __future__ import annotations

from typing import Any

from tengen.apps.options import print_json


def list_games(as_json: bool) -> None:
    from tengen.games import file_names, load_game, other_names
    from tengen.rules.game import parameter_kinds

    rows: list[dict[str, Any]] = []
    for name in file_names():
        game = load_game(name)
        kinds = parameter_kinds(type(game.parameters))
        defaults = game.parameters._asdict()
        parameters = {
            field: {"values": str(allowed), "default": allowed.text(defaults[field])}
            for field, (_, allowed) in kinds.items()
        }
        others = [other for other, (owner, _) in other_names().items() if owner == name]
        about = (type(game.parameters).__doc__ or "").splitlines()[0]
        rows.append({"name": name, "about": about, "parameters": parameters, "other_names": others})
    if as_json:
        print_json(rows)
        return
    for row in rows:
        also = f" (also: {', '.join(row['other_names'])})" if row["other_names"] else ""
        print(f"{row['name']}{also}: {row['about']}")
        for field, facts in row["parameters"].items():
            print(f"    {field}={facts['default']}  ({facts['values']})")
    print("\nA game of your own is one file: tengen check ./yours.py, tengen play ./yours.py")


def list_agents(as_json: bool) -> None:
    from tengen.agents.own import packaged_makers
    from tengen.agents.specs import AGENTS, PRESETS
    from tengen.knowledge.evaluations import EVALUATIONS

    makers = {**AGENTS, **packaged_makers()}
    if as_json:
        options = {
            name: {key: {"default": option.default, "about": option.about} for key, option in maker.options.items()}
            for name, maker in makers.items()
        }
        agents = [{"name": name, "about": maker.about, "options": options[name]} for name, maker in makers.items()]
        known = [{"name": name, "games": each.games, "about": each.about} for name, each in EVALUATIONS.items()]
        print_json({"agents": agents, "evaluations": known, "presets": PRESETS})
        return
    for name, maker in makers.items():
        print(f"{name}: {maker.about}")
        for key, option in maker.options.items():
            default = "" if option.default is None else f"={option.default}"
            print(f"    {key}{default}  ({option.about})")
    print("evaluations, for evaluation=…")
    for name, named in EVALUATIONS.items():
        print(f"    {name}  ({', '.join(named.games) or 'any game'}: {named.about})")
    print("presets")
    for name, spec in PRESETS.items():
        print(f"    {name}  = {spec}")


def list_presets(as_json: bool) -> None:
    rows = [*selfplay_presets(), *alphago_presets()]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['name']}: {row['about']}")
        print(
            f"    {row['game']}; {extent_text(row)}"
            + (f"; on a GPU {extent_text(row['cuda'])}" if "cuda" in row else "")
        )
    print("\nTrain one with tengen train NAME; --set TABLE.KEY=VALUE changes a setting")


def selfplay_presets() -> list[dict[str, Any]]:
    """The presets of self-play; their extent on a GPU stands under `cuda`."""
    from tengen.learn.settings import PRESETS, about_preset, load_settings, preset_names

    rows = []
    for name in preset_names():
        cpu, cuda = (load_settings(name, device=device) for device in ("cpu", "cuda"))
        row = {"name": name, "game": cpu.run.game, **extent_of(cpu), "cuda": extent_of(cuda)}
        rows.append(row | {"about": about_preset(PRESETS / f"{name}.toml")})
    return rows


def alphago_presets() -> list[dict[str, Any]]:
    """The stages of the AlphaGo pipeline."""
    from tengen.alphago.settings import PRESETS, STAGES, load_stage
    from tengen.learn.settings import about_preset

    rows = []
    for name in STAGES:
        stage = load_stage(name)
        row = {"name": name, "game": stage.run.game, **extent_of(stage)}
        rows.append(row | {"about": about_preset(PRESETS / f"{name}.toml")})
    return rows


def extent_of(settings: Any) -> dict[str, Any]:
    """The size of the net, if the preset makes one, and how many generations it is trained."""
    net = getattr(settings, "net", None)
    sizes = {key: getattr(net, key) for key in ("kind", "blocks", "layers", "channels") if hasattr(net, key)}
    if sizes.get("kind", "resnet") != "resnet":
        sizes = {"kind": sizes["kind"]}  # blocks and channels are a ResNet's
    return {"net": sizes or None, "generations": settings.run.generations}


def extent_text(extent: dict[str, Any]) -> str:
    net, generations = extent["net"], f"{extent['generations']} generations"
    if net is None:
        return generations
    if "channels" not in net:
        return f"the network {net['kind']}, {generations}"
    depth = f"{net['blocks']} blocks" if "blocks" in net else f"{net['layers']} layers"
    return f"{depth} of {net['channels']} channels, {generations}"
