"""
kitty's way into Tallylight: a global watcher (https://sw.kovidgoyal.net/kitty/launch/#watchers).

kitty runs this file by path, so it finds the package by its own place: `lib` beside its folder. It only translates; if
the package is missing or broken, kitty starts as without it and its log has one line about it.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))
try:
    from tallylight.hosts.kitty import starter as _starter
except Exception as _error:  # kitty has to start, whatever fails here
    from kitty.utils import log_error

    log_error(f"tallylight: switched off: {type(_error).__name__}: {_error}; run `tally doctor`")
else:
    on_load = _starter.on_load
    on_close = _starter.CALLS["on_close"]
    on_cmd_startstop = _starter.CALLS["on_cmd_startstop"]
    on_focus_change = _starter.CALLS["on_focus_change"]
    on_set_user_var = _starter.CALLS["on_set_user_var"]
    on_title_change = _starter.CALLS["on_title_change"]
