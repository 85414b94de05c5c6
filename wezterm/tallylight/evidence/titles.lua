--- What a program's title says beside a light of ours: `titles.py` has the same rules.
---
--- Pure.

local memo = require('tallylight.model.memo')
local text = require('tallylight.wire.text')

local M = {}

--- What agents call themselves in a title that says no more.
---@type table<string, string>
M.NAMES = {
  aider = 'aider',
  amp = 'Amp',
  auggie = 'Auggie',
  claude = 'Claude Code',
  cline = 'Cline',
  codex = 'Codex',
  copilot = 'GitHub Copilot',
  crush = 'Crush',
  ['cursor-agent'] = 'Cursor CLI',
  droid = 'Droid',
  gemini = 'Gemini CLI',
  goose = 'goose',
  grok = 'Grok CLI',
  kilo = 'Kilo Code',
  kimi = 'Kimi Code',
  nanocoder = 'Nanocoder',
  opencode = 'OpenCode',
  pi = 'pi',
  qwen = 'Qwen Code',
  vibe = 'Mistral Vibe',
}
--- WezTerm's title for a program that has set none is the name of its process.
local PROCESSES = {}
for name in ('bash bun deno fish node python sh tally wezterm zsh'):gmatch('%a+') do
  PROCESSES[name] = true
end
local SEPARATOR = ' | '
--- Bytes of a title that are looked at.
local MOST = 4096

---@type table<integer, boolean>
local LAMPS = {}
for _, point in utf8.codes('✳✶✻✽✢✦✧⏲✋◇◆◈') do
  LAMPS[point] = true
end
for _, range in ipairs({ { 0x2800, 0x28FF }, { 0x25D0, 0x25D7 } }) do
  for point = range[1], range[2] do
    LAMPS[point] = true
  end
end

---@param value string
local function trimmed(value)
  return value:match('^%s*(.-)%s*$')
end

--- Without the signs and spinners in front of it, which change many times a second.
---@param item string
---@return string
local function without_lamps(item)
  item = trimmed(item)
  while item ~= '' and LAMPS[utf8.codepoint(item)] do
    local rest = item:sub(utf8.offset(item, 2))
    if rest:find('^[^ ]') then
      return item
    end
    item = trimmed(rest)
  end
  return item
end

--- A title to be shown: harmless, and without an agent's own lamps.
---@type fun(title: string): string
local clean = memo.of(256, function(title)
  local kept = {}
  for item in (text.sanitise(title) .. SEPARATOR):gmatch('(.-) | ') do
    item = without_lamps(item)
    if item ~= '' and not item:find('^%[ [!.] %] Action Required$') then
      kept[#kept + 1] = item
    end
  end
  return table.concat(kept, SEPARATOR)
end)

---@param title any
---@return string
function M.clean(title)
  return type(title) == 'string' and clean(title:sub(1, MOST)) or ''
end

--- What a request is about in few words: the first line, of a command without the tool that runs it.
---@param what string # `Bash: npm test`
---@return string
function M.request(what)
  what = what:match('^[%a_][%w_]*: (.+)$') or what
  return trimmed(what:sub(1, (what:find('↵', 1, true) or 0) - 1))
end

--- Whether a clean title says no more than which program it is, or is the command that starts it, as shells set it.
---@param title string
---@param agent string
---@return boolean
function M.is_bare(title, agent)
  title = title:lower()
  local name = (M.NAMES[agent] or agent):lower()
  return title == ''
    or title == name
    or title == name:match('^%S+')
    or title:match('^%S+') == agent
    or PROCESSES[title:match('^(%a+)[%d.]*$')] == true
end

return M
