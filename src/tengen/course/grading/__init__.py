"""Assignments that grade themselves: `tengen grade`."""
