"""Nothing that Tengen stands on connects to anything, or keeps files of its own. Nets: tests/nets/test_session.py."""

import offline
import pytest

PROGRAMS = {
    "torch": "import torch; assert torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().item() < 100",
    "Numba": "from numba import njit; assert njit(lambda x: x + 1)(1) == 2",
    "the web app": """
from starlette.testclient import TestClient
from tengen.apps.web.server import new_app
from tengen.apps.web.settings import ServerSettings
with TestClient(new_app(ServerSettings()), base_url="http://127.0.0.1:8000") as page:
    assert page.get("/").status_code == 200
""",
    "the command line": "import tengen.apps.cli, tengen.apps.arena, tengen.apps.gtp.conversation, rich.table",
}


@pytest.mark.skipif(not offline.IS_POSSIBLE, reason=offline.WHERE)
@pytest.mark.parametrize("name", PROGRAMS)
def test_nobody_is_told(tmp_path, name):
    done = offline.run_apart(tmp_path, PROGRAMS[name])
    assert done.returncode == 0, done.stderr.decode()
    assert [path for path in offline.files_in(tmp_path) if ".cache/tengen/" not in path] == []
