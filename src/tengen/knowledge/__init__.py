"""What experts know: evaluations, threats, exact endgames."""

import tengen.search.evaluation  # noqa: F401  the questions that evaluations answer
