"""python bench/peer_gpu.py [GAME BATCH CHANNELS]…: self-play with pgx and mctx on one GPU, simulations a second.

The peer of bench/gpu_search.py: the same tower (6 blocks, bfloat16) written in JAX, Gumbel MuZero's search with 32
simulations, games that begin again when they end. Needs jax with CUDA, pgx and mctx.
"""

from __future__ import annotations

import sys
import time

import jax
import jax.numpy as jnp
import mctx
import pgx

BLOCKS, SIMULATIONS, MOVES = 6, 32, 6
CASES = [
    ("go_9x9", 65536, 64),
    ("othello", 65536, 64),
    ("othello", 131072, 64),
    ("go_9x9", 16384, 128),
]


def weights_of(env, channels: int, key) -> dict:
    """Random weights of the tower and its heads."""
    rows, columns, planes = env.observation_shape

    def normal(*shape):
        nonlocal key
        key, now = jax.random.split(key)
        fan_in = 1
        for size in shape[:-1]:
            fan_in *= size
        return (jax.random.normal(now, shape) * (2 / fan_in) ** 0.5).astype(jnp.bfloat16)

    cells = rows * columns
    return {
        "first": normal(3, 3, planes, channels),
        "blocks": [(normal(3, 3, channels, channels), normal(3, 3, channels, channels)) for _ in range(BLOCKS)],
        "policy": (normal(1, 1, channels, 4), normal(4 * cells, env.num_actions)),
        "value": (normal(1, 1, channels, 2), normal(2 * cells, 64), normal(64, 1)),
    }


def convolve(x, kernel):
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def network(weights: dict, planes):
    """Logits and values of a batch of observations."""
    x = jax.nn.relu(convolve(planes.astype(jnp.bfloat16), weights["first"]))
    for first, second in weights["blocks"]:
        x = jax.nn.relu(x + convolve(jax.nn.relu(convolve(x, first)), second))
    batch = x.shape[0]
    policy = jax.nn.relu(convolve(x, weights["policy"][0])).reshape(batch, -1) @ weights["policy"][1]
    hidden = jax.nn.relu(convolve(x, weights["value"][0])).reshape(batch, -1) @ weights["value"][1]
    value = jnp.tanh(jax.nn.relu(hidden) @ weights["value"][2])[:, 0]
    return policy.astype(jnp.float32), value.astype(jnp.float32)


def self_play(env, batch: int):
    """A compiled function that plays some moves in all games."""
    step = jax.vmap(env.step)

    def recurrent(weights, key, action, state):
        mover = state.current_player
        state = step(state, action)
        logits, value = network(weights, state.observation)
        logits = jnp.where(state.legal_action_mask, logits - jnp.max(logits, -1, keepdims=True), -1e9)
        reward = state.rewards[jnp.arange(batch), mover]
        value = jnp.where(state.terminated, 0.0, value)
        same = state.current_player == mover
        discount = jnp.where(state.terminated, 0.0, jnp.where(same, 1.0, -1.0))
        output = mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value)
        return output, state

    @jax.jit
    def move(weights, key, state):
        search, fresh = jax.random.split(key)
        logits, value = network(weights, state.observation)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        found = mctx.gumbel_muzero_policy(
            weights,
            search,
            root,
            recurrent,
            SIMULATIONS,
            invalid_actions=~state.legal_action_mask,
            qtransform=mctx.qtransform_completed_by_mix_value,
        )
        state = step(state, found.action)
        begun = jax.vmap(env.init)(jax.random.split(fresh, batch))
        over = state.terminated | state.truncated
        keep = lambda new, old: jnp.where(over.reshape(-1, *[1] * (old.ndim - 1)), new, old)  # noqa: E731
        return jax.tree_util.tree_map(keep, begun, state)

    return move


def measure(name: str, batch: int, channels: int) -> None:
    env = pgx.make(name)
    weights = weights_of(env, channels, jax.random.PRNGKey(0))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), batch))
    alone = jax.jit(network)
    planes = state.observation
    jax.block_until_ready(alone(weights, planes))
    begin = time.perf_counter()
    for _ in range(50):
        answer = alone(weights, planes)
    jax.block_until_ready(answer)
    network_rate = 50 * batch / (time.perf_counter() - begin)
    move = self_play(env, batch)
    begin = time.perf_counter()
    state = jax.block_until_ready(move(weights, jax.random.PRNGKey(2), state))
    compiled = time.perf_counter() - begin
    begin = time.perf_counter()
    for number in range(MOVES):
        state = move(weights, jax.random.PRNGKey(10 + number), state)
    jax.block_until_ready(state)
    rate = MOVES * SIMULATIONS * batch / (time.perf_counter() - begin)
    print(
        f"pgx + mctx {name:8} {batch:6} games 6×{channels}: {rate / 1e6:.2f} M simulations/s, network alone "
        f"{network_rate / 1e6:.2f} M/s (compiled in {compiled:.0f} s)",
        flush=True,
    )


if __name__ == "__main__":
    given = sys.argv[1:]
    for name, batch, channels in list(zip(given[::3], given[1::3], given[2::3], strict=True)) or CASES:
        measure(name, int(batch), int(channels))
