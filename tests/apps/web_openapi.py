"""Whatever the OpenAPI document allows, and what it does not: schemathesis asks, and the server never errs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

MODES = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)


def operations_of(schema: Any) -> list[Any]:
    """All that can be asked of a server."""
    return [found.ok() for found in schema.get_all_operations()]


def check_answers(operations: Iterable[Any], examples: int, **how: Any) -> None:
    """Each operation, with bodies that fit and bodies that do not: no answer is a 500, every error is a sentence."""
    for operation in operations:
        cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in MODES))

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(case=cases)
        def check(case: Any) -> None:
            answer = case.call(**how)
            assert answer.status_code < 500, f"{case.method} {case.formatted_path} {case.body!r}: {answer.text}"
            if answer.status_code >= 400:
                assert isinstance(answer.json()["error"], str)

        check()
