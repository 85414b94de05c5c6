--- The facts that only WezTerm's own process knows, in a file for the sidecar: `tally` variables, titles, the panes in
--- front of a person, and problems on this side.
--- One JSON file, written by rename, only after a change, and in asynchronous events only.

local wezterm = require('wezterm')
local panes = require('tallylight.pane.panes')
local release = require('tallylight.model.release')
local text = require('tallylight.wire.text')

local M = {}

M.MAX_PANES = 1000
--- Where a title is cut; agents say what they do at its front.
M.TITLE_CELLS = 128

---@class tallylight.Seen
---@field title string
---@field tab integer
---@field window integer
---@field is_local boolean
---@field progress boolean|nil # whether a progress bar is shown; nil where WezTerm cannot tell
---@field mux string|nil # what a mux server says of it

---@class tallylight.World
---@field life string # changes with each reload, when counting starts again
---@field seen table<integer, tallylight.Seen>
---@field front integer[] # the panes in front of a person
---@field workspace string # the one that is shown
---@field problems string[] # their names: `tally doctor` has a sentence for each
---@field bar table # the tab bar, for `scene.py`
---@field keys string|nil # which key does what
---@field wish string|nil # a person's last request by a key: its number, its verb, and its pane

---@param id integer
---@param seen tallylight.Seen
local function row(id, seen)
  local said = {}
  for _, word in ipairs(panes.said(id)) do
    said[#said + 1] = { n = word.n, value = word.value }
  end
  local title = text.sanitise(seen.title, M.TITLE_CELLS)
  -- An empty table would be written as a map.
  return {
    title = title,
    tab = seen.tab,
    window = seen.window,
    is_local = seen.is_local,
    said = #said > 0 and said or nil,
    progress = seen.progress,
    mux = seen.mux and utf8.len(seen.mux) and seen.mux or nil,
  }
end

--- The text of the file without its number: the same as long as nothing changed.
---@param world tallylight.World
---@return string|nil
function M.encode(world)
  local rows, ids = {}, {}
  for id in pairs(world.seen) do
    ids[#ids + 1] = id
  end
  table.sort(ids)
  table.sort(world.front)
  table.sort(world.problems)
  for index = 1, math.min(#ids, M.MAX_PANES) do
    rows[tostring(ids[index])] = row(ids[index], world.seen[ids[index]])
  end
  local is_good, encoded = pcall(wezterm.json_encode, {
    version = 1,
    life = world.life,
    front = table.concat(world.front, ','),
    release = release,
    workspace = text.sanitise(world.workspace, M.TITLE_CELLS),
    problems = table.concat(world.problems, ','),
    bar = world.bar,
    keys = world.keys,
    wish = world.wish,
    panes = rows,
  })
  return is_good and encoded or nil
end

--- Write what `encode` made, as the feed of that *number*: the sidecar says which it has read.
---@param path string
---@param data string
---@param number integer
---@return boolean
function M.write(path, data, number)
  local aside = path .. '.new'
  -- A FIFO may be there, which would be waited for.
  os.remove(aside)
  local file = io.open(aside, 'w')
  if not file then
    return false
  end
  local is_good = file:write((data:gsub('^{', string.format('{"number":%d,', number), 1))) ~= nil
  is_good = file:close() and is_good
  return (is_good and os.rename(aside, path)) or false
end

return M
