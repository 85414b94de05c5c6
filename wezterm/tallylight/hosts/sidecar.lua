--- The sidecar, `tally host wezterm`: started once a GUI process, looked after, and its snapshot taken in.
---
--- Everything here runs in asynchronous events. Without the program nothing is lost but the sidecar: one line in the
--- log, and the lights show what the `tally` variables say.

local wezterm = require('wezterm')
local panes = require('tallylight.pane.panes')
local snapshot = require('tallylight.snapshot.reader')

local M = {}

--- How often a sidecar is started until the next reload, at most, and how long to wait between two starts, in seconds.
M.MAX_STARTS = 3
M.RESTART_S = 60
--- How often to look whether it lives, in seconds.
M.ALIVE_S = 10

---@class tallylight.Sidecar
---@field pid integer
---@field snapshot string
---@field feed string

---@type tallylight.Sidecar|nil
local known
local written
local looked_at = 0
local is_asked = false
--- In this Lua state: whoever reloads the configuration may have put things right.
local starts = 0

--- What is kept over a reload of the configuration, as JSON: in WezTerm's GLOBAL a list cannot be changed.
---@return table
local function memory()
  local is_good, found = pcall(wezterm.json_parse, wezterm.GLOBAL.tallylight_sidecar or '{}')
  found = is_good and type(found) == 'table' and found or {}
  if type(found.started_at) ~= 'number' then
    found.started_at = nil
  end
  return found
end

---@param found table
local function remember(found)
  wezterm.GLOBAL.tallylight_sidecar = wezterm.json_encode(found)
end

--- Whether *path* is that of a file of ours: one is written, and the other removed when its writer is gone.
---@param path any
---@param ending string # a pattern
---@return boolean
local function is_ours(path, ending)
  return type(path) == 'string' and path:sub(1, 1) == '/' and path:find('/wezterm%-%d+' .. ending .. '$') ~= nil
end

---@param found any
---@return tallylight.Sidecar|nil
local function checked(found)
  if
    type(found) == 'table'
    and found.version == 1
    and math.type(found.pid) == 'integer'
    and found.pid > 0
    and is_ours(found.snapshot, '%.json')
    and is_ours(found.feed, '%.feed%.json')
  then
    return { pid = found.pid, snapshot = found.snapshot, feed = found.feed }
  end
  return nil
end

--- The programs to try: a GUI started from a desktop often has no `~/.local/bin` on its PATH.
---@param tally string
---@return string[]
local function programs(tally)
  if tally:find('/', 1, true) then
    return { tally }
  end
  return { wezterm.home_dir .. '/.local/bin/' .. tally, tally }
end

---@param tally string
---@param arguments string[]
---@return string|nil output, string problem
function M.run(tally, arguments)
  local problem = tally .. ' was not found'
  for _, program in ipairs(programs(tally)) do
    local is_there, is_good, out, err = pcall(wezterm.run_child_process, { program, table.unpack(arguments) })
    if is_there and is_good then
      return out, ''
    elseif is_there then
      problem = program .. ': ' .. tostring(err):sub(1, 300)
      -- A refusal has a text of its own on standard output.
      return out ~= '' and out or nil, problem
    end
  end
  return nil, problem
end

---@param tally string
---@param now number
local function start(tally, now)
  local kept = memory()
  if starts >= M.MAX_STARTS or (kept.started_at and now - kept.started_at < M.RESTART_S and now >= kept.started_at) then
    return
  end
  starts = starts + 1
  remember({ started_at = now })
  local out, problem = M.run(tally, {
    'host',
    'wezterm',
    '--pid',
    tostring(wezterm.procinfo.pid()),
    '--wezterm',
    wezterm.executable_dir .. '/wezterm',
  })
  local is_json, found = pcall(wezterm.json_parse, out or '')
  known = checked(is_json and found or nil)
  if known then
    remember({
      started_at = now,
      version = 1,
      pid = known.pid,
      snapshot = known.snapshot,
      feed = known.feed,
    })
  elseif starts == 1 then
    wezterm.log_warn('tallylight: no sidecar, so only the tally variable is shown: ' .. problem)
  end
end

--- See to it that the sidecar runs; nil while there is none.
---@param tally string|false
---@param now number
---@return tallylight.Sidecar|nil
function M.ensure(tally, now)
  if not tally then
    return nil
  end
  if not known then
    known = checked(memory())
  end
  if known and (now - looked_at >= M.ALIVE_S or now < looked_at) then
    looked_at = now
    if not wezterm.procinfo.executable_path_for_pid(known.pid) then
      os.remove(known.snapshot)
      known, written = nil, nil
      remember({ started_at = memory().started_at })
      panes.set_entries({})
    end
  end
  if not known and not is_asked then
    is_asked = true
    start(tally, now)
    is_asked = false
  end
  return known
end

--- Take in the snapshot, if it is a new one.
---@return boolean # whether it is
---@return number # when it was written, in seconds since the epoch
function M.refresh()
  if not known then
    return false, 0
  end
  local found
  found, written = snapshot.read(known.snapshot, known.pid, written)
  if found then
    panes.set_entries(found)
  end
  return found ~= nil, tonumber(written) or 0
end

--- The name of a pane on the command line, `wezterm-4711:3`; nil without a sidecar.
---@param pane_id integer
---@return string|nil
function M.address(pane_id)
  return known and string.format('wezterm-%d:%d', known.pid, pane_id) or nil
end

return M
