-- WezTerm runs Lua 5.4 and hands its own module out through `require 'wezterm'`: there is nothing global to know.
std = 'lua54'
max_line_length = 120
include_files = { 'wezterm/**/*.lua', 'plugin/*.lua', 'tests/hosts/wezterm/**/*.lua' }
-- The fake replaces what WezTerm replaces.
files['tests/hosts/wezterm/fake.lua'] = { ignore = { '122' } }
-- Configurations as people write them.
exclude_files = { 'tests/hosts/wezterm/configurations/**' }
