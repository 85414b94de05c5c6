--- The sidecar, `tally host wezterm`: started once a GUI process, looked after, and its snapshot taken in.
---
--- Everything here runs in asynchronous events. Without the program nothing is lost but the sidecar: one line in the
--- log, and the lights show what the `tally` variables say.

local wezterm = require('wezterm')
local scenes = require('tallylight.snapshot.scene')
local titles = require('tallylight.ui.titles')

local M = {}

--- How often a start may fail until the next reload, and how long to wait after one that has, in seconds.
M.MAX_FAILURES = 3
M.RETRY_S = 60
--- A sidecar that was ended from outside is started again at once, unless it lived for less than this, in seconds.
M.RESTART_S = 10
--- How often to look whether it lives, in seconds.
M.ALIVE_S = 2
--- How often to look whether that is the same process, in seconds: WezTerm reads all of /proc for it.
M.SAME_S = 60
--- How long the last scene of an ended sidecar stays, in seconds: as long as a new one needs to look at everything.
M.LAST_WORD_S = 8

---@class tallylight.Sidecar
---@field pid integer
---@field snapshot string
---@field feed string
---@field release string|nil # what is installed; another one after an update
---@field program string|nil # the `tally` that started it

---@type tallylight.Sidecar|nil
local known
local written
local looked_at, compared_at = 0, 0
local is_asked = false
--- In this Lua state: whoever reloads the configuration may have put things right.
local failures = 0
local gone_at
local is_stale = false
--- The release that was installed when this Lua state first learned of it, and from which it was loaded.
local release

--- Return the values kept over a reload of the configuration, from JSON: in WezTerm's GLOBAL a list cannot be changed.
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

--- Whether *path* is that of a file of ours: one is written.
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
    local is_named = type(found.release) == 'string' and #found.release < 100
    local has_program = type(found.program) == 'string' and #found.program < 4096
    return {
      program = has_program and found.program or nil,
      pid = found.pid,
      snapshot = found.snapshot,
      feed = found.feed,
      release = is_named and found.release or nil,
    }
  end
  return nil
end

--- Whether the process *pid* was started as our sidecar, by its arguments; true where they cannot be read. WezTerm's
--- `start_time` does not tell: on Linux it is the size of the memory.
---@param pid integer
---@return boolean
local function is_sidecar(pid)
  local info = wezterm.procinfo.get_info_for_pid(pid)
  local argv = info and info.argv or {}
  for at, word in ipairs(argv) do
    if word == '--pid' then
      return argv[at + 1] == tostring(wezterm.procinfo.pid())
    end
  end
  return #argv == 0
end

--- Whether the sidecar still runs: another process may have its number.
---@param now number
---@return boolean
local function is_alive(now)
  if not wezterm.procinfo.executable_path_for_pid(known.pid) then
    return false
  elseif now - compared_at >= M.SAME_S or now < compared_at then
    compared_at = now
    return is_sidecar(known.pid)
  end
  return true
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
---@return string|nil output, string problem, string|nil program
local function run(tally, arguments)
  for _, program in ipairs(programs(tally)) do
    local is_there, is_good, out, err = pcall(wezterm.run_child_process, { program, table.unpack(arguments) })
    if is_there and is_good then
      return out, '', program
    elseif is_there then
      return nil, program .. ': ' .. tostring(err):sub(1, 300)
    end
  end
  return nil, tally .. ' was not found'
end

---@param tally string
---@param now number
local function start(tally, now)
  local kept = memory()
  local wait = kept.has_failed and M.RETRY_S or M.RESTART_S
  if failures >= M.MAX_FAILURES or (kept.started_at and now - kept.started_at < wait and now >= kept.started_at) then
    return
  end
  remember({ started_at = now, has_failed = true })
  local out, problem, program = run(tally, {
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
    known.program = program
    remember({
      started_at = now,
      version = 1,
      pid = known.pid,
      snapshot = known.snapshot,
      feed = known.feed,
      release = known.release,
      program = program,
    })
    M.check_release()
  else
    failures = failures + 1
    if failures == 1 then
      wezterm.log_warn('tallylight: no sidecar, so lights come only from the tally variable: ' .. problem)
    end
  end
end

--- Reload the configuration after an update, when another release is installed than the one we were loaded from. Wait
--- until the new sidecar has had time to look: only this Lua state knows the last one's scene.
function M.check_release()
  if not known or not known.release then
    return
  end
  release = release or known.release
  if release ~= known.release and not gone_at then
    release = known.release
    wezterm.log_info('tallylight: ' .. release .. ' is installed now; the configuration is loaded anew')
    wezterm.reload_configuration()
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
    M.check_release()
  end
  if known and (now - looked_at >= M.ALIVE_S or now < looked_at) then
    looked_at = now
    if not is_alive(now) then
      known, written, is_stale = nil, nil, false
      gone_at = now
      remember({ started_at = memory().started_at })
    end
  end
  if gone_at and (now - gone_at > M.LAST_WORD_S or now < gone_at) then
    gone_at = nil
    if not known then
      titles.scene = nil
    end
    M.check_release()
  end
  if not known and not is_asked then
    is_asked = true
    start(tally, now)
    is_asked = false
  end
  return known
end

--- A file of the sidecar, by its ending.
---@param ending string
---@return string|nil
function M.file(ending)
  return known and (known.feed:gsub('feed%.json$', ending))
end

--- The FIFO that is opened when there is news; nil without a sidecar.
---@return string|nil
function M.news()
  return known and (known.snapshot:gsub('json$', 'news'))
end

--- Take in the scene, if it is a new one.
---@return boolean # whether it is
function M.refresh()
  local path = M.file('scene.json')
  if not path then
    return false
  end
  local data
  data, written, is_stale = scenes.read(path, written)
  local found = data and scenes.parse(data)
  if found then
    titles.scene = found
    wezterm.GLOBAL.tallylight_scene = data
  end
  return found ~= nil
end

--- Return the place that a person asked for, once: the id of a pane, or `none`.
---@return string|nil
function M.goal()
  local path = M.file('goal')
  local file = path and scenes.open(path)
  if not file then
    return nil
  end
  local goal = file:read(20) or ''
  file:close()
  return os.remove(path) and goal:match('^%w+$')
end

--- Take over the last scene of the previous Lua state: WezTerm redraws before it emits any event to us.
function M.recall()
  titles.scene = checked(memory()) and scenes.parse(wezterm.GLOBAL.tallylight_scene) or nil
end

--- As of when it tells what it shows, and cannot write anything newer: a time of the day; nil if it can.
---@return string|nil
function M.as_of()
  if not known or not is_stale then
    return nil
  end
  local is_time, at = pcall(os.date, '%H:%M:%S', math.floor(tonumber(written) or 0))
  return is_time and at or 'an unknown time'
end

--- The name of a pane on the command line, `wezterm-4711:3`; nil without a sidecar.
---@param pane_id integer
---@return string|nil
function M.address(pane_id)
  return known and string.format('wezterm-%d:%d', known.pid, pane_id) or nil
end

--- Return the `tally` that started the sidecar; nil without one. A remembered process may be another program by now.
---@param tally string
---@return string|nil
function M.program(tally)
  for _, program in ipairs(known and programs(tally) or {}) do
    if program == known.program then
      return program
    end
  end
  return nil
end

return M
