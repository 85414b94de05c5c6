"""Load the user's configuration from its file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tallylight.files.directories import config_file
from tallylight.files.read_write import read_text
from tallylight.model.errors import TallyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tallylight.config.settings import Config


def load_config(env: Mapping[str, str] = os.environ) -> tuple[Config, list[TallyError]]:
    """Return the user's configuration and its errors. An unusable key has its default; a missing file is no error."""
    from tallylight.config.settings import Config, load

    path = config_file(env)
    try:
        text = read_text(path)
    except FileNotFoundError:
        return Config(), []
    except TallyError as error:
        return Config(), [error]
    config, errors = load(text, str(path))
    return config, list(errors)
