"""Property tests draw the same examples every time, so that a run tells about the code and not about luck.

`HYPOTHESIS_PROFILE=explore` draws new ones, as `make test-long` does.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
