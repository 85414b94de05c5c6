"""
What the Lua API of WezTerm has, by profile: the stable release 20240203 and the nightlies since February 2025.

The allow-lists of the fake. A name that is in none of them fails in the fake, whatever WezTerm itself would do with it.
"""

from __future__ import annotations

PROFILES = ("stable", "nightly")

VERSION = {"stable": "20240203-110809-5046fc22", "nightly": "20250209-182623-44866cc1"}

#: Of the module itself. Those of `ASYNC` suspend their handler.
MODULE = {
    "GLOBAL", "action", "action_callback", "add_to_config_reload_watch_list", "background_child_process", "color",
    "column_width", "config_builder", "config_dir", "config_file", "emit", "executable_dir", "font", "format",
    "glob", "gui", "has_action", "home_dir", "hostname", "json_encode", "json_parse", "log_error", "log_info",
    "log_warn", "mux", "nerdfonts", "on", "open_with", "pad_left", "pad_right", "plugin", "procinfo", "read_dir",
    "reload_configuration", "run_child_process", "sleep_ms", "strftime", "target_triple", "time", "to_string",
    "truncate_left", "truncate_right", "url", "version",
}  # fmt: skip
NIGHTLY_MODULE = {"serde"}

EVENTS = {
    "augment-command-palette", "bell", "format-tab-title", "format-window-title", "gui-attached", "gui-startup",
    "mux-is-process-stateful", "mux-startup", "new-tab-button-click", "open-uri", "update-right-status",
    "update-status", "user-var-changed", "window-config-reloaded", "window-focus-changed", "window-resized",
}  # fmt: skip
SYNC_EVENTS = {"augment-command-palette", "format-tab-title", "format-window-title", "mux-is-process-stateful"}

#: Methods by class; True for one that is asynchronous.
METHODS: dict[str, dict[str, bool]] = {
    "Pane": {
        **dict.fromkeys(
            (
                "pane_id", "tab", "window", "get_title", "get_domain_name", "get_user_vars", "activate",
                "get_foreground_process_name", "get_foreground_process_info", "get_lines_as_text", "get_metadata",
                "get_logical_lines_as_text", "get_tty_name", "has_unseen_output", "inject_output", "send_text",
                "send_paste", "is_alt_screen_active", "get_cursor_position", "get_semantic_zones", "get_dimensions",
            ),
            False,
        ),
        "split": True, "move_to_new_tab": True, "move_to_new_window": True,
    },
    "MuxTab": dict.fromkeys(
        (
            "tab_id", "get_title", "set_title", "active_pane", "panes", "panes_with_info", "activate", "window",
            "set_zoomed", "get_size", "get_pane_direction",
        ),
        False,
    ),
    "MuxWindow": {
        **dict.fromkeys(
            (
                "window_id", "get_workspace", "set_workspace", "tabs", "tabs_with_info", "active_tab", "active_pane",
                "get_title", "set_title",
            ),
            False,
        ),
        "gui_window": True, "spawn_tab": True,
    },
    "GuiWin": {
        **dict.fromkeys(
            (
                "window_id", "mux_window", "active_tab", "active_workspace", "focus", "toast_notification",
                "set_left_status", "set_right_status", "set_config_overrides", "copy_to_clipboard",
            ),
            False,
        ),
        **dict.fromkeys(
            (
                "perform_action", "active_pane", "effective_config", "get_config_overrides", "is_focused",
                "get_dimensions", "active_key_table",
            ),
            True,
        ),
    },
}  # fmt: skip
NIGHTLY_METHODS = {"Pane": {"get_progress": False}}

#: Fields of what sync handlers get. Reading another one raises.
FIELDS: dict[str, set[str]] = {
    "TabInformation": {
        "tab_id", "tab_index", "is_active", "active_pane", "panes", "window_id", "tab_title", "window_title",
    },
    "PaneInformation": {
        "pane_id", "pane_index", "is_active", "is_zoomed", "has_unseen_output", "left", "top", "width", "height",
        "pixel_width", "pixel_height", "title", "user_vars", "foreground_process_name", "current_working_dir",
        "tty_name", "domain_name",
    },
}  # fmt: skip
#: `is_last_active` of a tab is not in every nightly.
NIGHTLY_FIELDS: dict[str, set[str]] = {"TabInformation": set(), "PaneInformation": {"progress"}}
#: What is computed on access, and may start a thread or read files.
EXPENSIVE = {"foreground_process_name", "current_working_dir", "tty_name"}

MUX = {
    "all_windows": False, "get_window": False, "get_tab": False, "get_pane": False, "get_active_workspace": False,
    "get_workspace_names": False, "set_active_workspace": False, "rename_workspace": False, "get_domain": False,
    "all_domains": False, "set_default_domain": False, "spawn_window": True,
}  # fmt: skip
GUI = {"gui_windows": False, "gui_window_for_mux_window": False, "default_keys": False, "get_appearance": False}
PROCINFO = {
    "pid": False, "get_info_for_pid": False, "executable_path_for_pid": False, "current_working_dir_for_pid": False,
}  # fmt: skip

#: Actions and the keys of their one table, or None for one that takes something else.
ACTIONS: dict[str, set[str] | None] = {
    "EmitEvent": None,
    "ActivateKeyTable": {
        "name", "timeout_milliseconds", "replace_current", "one_shot", "until_unknown", "prevent_fallback",
    },
    "ActivateTab": None, "ActivatePaneByIndex": None, "SwitchToWorkspace": {"name", "spawn"},
    "SplitPane": {"direction", "command", "size", "top_level"}, "Multiple": None, "Nop": None,
    "InputSelector": {
        "title", "choices", "action", "fuzzy", "alphabet", "description", "fuzzy_description",
    },
    "PromptInputLine": {"description", "action"},
}  # fmt: skip
NIGHTLY_ACTIONS: dict[str, set[str] | None] = {"Confirmation": {"message", "action", "cancel"}}
NIGHTLY_ACTION_KEYS = {"PromptInputLine": {"prompt", "initial_value"}}

SPLIT_KEYS = {"args", "cwd", "set_environment_variables", "domain", "direction", "size", "top_level"}
SPAWN_KEYS = {"args", "cwd", "set_environment_variables", "domain"}
DIRECTIONS = {"Right", "Left", "Top", "Bottom"}

CONFIG_KEYS = {
    "audible_bell", "check_for_updates", "color_scheme", "colors", "default_cwd", "default_domain", "default_prog",
    "enable_tab_bar", "font", "font_size", "hide_tab_bar_if_only_one_tab", "key_tables", "keys", "leader",
    "mouse_bindings", "notification_handling", "set_environment_variables", "show_new_tab_button_in_tab_bar",
    "show_tab_index_in_tab_bar", "show_tabs_in_tab_bar", "ssh_domains", "status_update_interval",
    "tab_and_split_indices_are_zero_based",
    "tab_bar_at_bottom", "tab_max_width", "term", "unix_domains", "use_fancy_tab_bar", "window_frame",
}  # fmt: skip
#: Of these, what the tab bar looks like.
LOOKS = (
    "colors", "show_tab_index_in_tab_bar", "tab_and_split_indices_are_zero_based", "use_fancy_tab_bar", "window_frame",
)  # fmt: skip
