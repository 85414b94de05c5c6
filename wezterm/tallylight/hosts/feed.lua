--- What only WezTerm's own process can see, written where the sidecar reads it: what the `tally` variables said, the
--- titles, and which panes are in front of a person. One JSON file, written by rename, only when it changed, and in
--- asynchronous events only.

local wezterm = require('wezterm')
local panes = require('tallylight.pane.panes')
local text = require('tallylight.wire.text')

local M = {}

M.MAX_PANES = 1000
--- Where a title is cut; agents say what they do at its front.
M.TITLE_CELLS = 128

---@class tallylight.Seen
---@field title string
---@field is_local boolean

---@param id integer
---@param seen tallylight.Seen
local function row(id, seen)
  local said = {}
  for _, word in ipairs(panes.said(id)) do
    said[#said + 1] = { n = word.n, value = word.value }
  end
  local title = text.sanitise(seen.title, M.TITLE_CELLS)
  -- An empty table would be written as a map.
  return { title = title, is_local = seen.is_local, said = #said > 0 and said or nil }
end

--- The text of the file.
---@param life string # another one after each reload, when counting starts anew
---@param seen table<integer, tallylight.Seen>
---@param front integer[] # the panes in front of a person
---@return string|nil
function M.encode(life, seen, front)
  local rows, ids = {}, {}
  for id in pairs(seen) do
    ids[#ids + 1] = id
  end
  table.sort(ids)
  table.sort(front)
  for index = 1, math.min(#ids, M.MAX_PANES) do
    rows[tostring(ids[index])] = row(ids[index], seen[ids[index]])
  end
  local is_good, encoded = pcall(wezterm.json_encode, {
    version = 1,
    life = life,
    front = table.concat(front, ','),
    panes = rows,
  })
  return is_good and encoded or nil
end

---@param path string
---@param data string
---@return boolean
function M.write(path, data)
  local aside = path .. '.new'
  local file = io.open(aside, 'w')
  if not file then
    return false
  end
  local is_good = file:write(data) ~= nil
  is_good = file:close() and is_good
  return (is_good and os.rename(aside, path)) or false
end

return M
