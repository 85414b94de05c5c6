--- The Lua half of the fake: objects that are userdata, asynchronous functions that really yield, and the counting.
---
--- Run with WezTerm's own standard library still whole; what WezTerm takes away is taken away at the end.

local host = ...
local debug, coroutine, error, type, tostring = debug, coroutine, error, type, tostring
local setmetatable, pairs, select = setmetatable, pairs, select

local M = {}
local ASYNC = {}
local ids = setmetatable({}, { __mode = 'k' })

--- 'load' while the configuration is evaluated, 'sync' and 'async' in events.
M.mode = 'load'
---@type table<string, integer> # `mode name` -> calls
M.counts = {}

local function count(name)
  local key = M.mode .. ' ' .. name
  M.counts[key] = (M.counts[key] or 0) + 1
end

local function describe(name)
  return type(name) == 'string' and "'" .. name .. "'" or tostring(name)
end

---@type table<string, table<string, boolean>> # methods by class, and whether they are asynchronous
M.methods = nil
M.call_method = nil

--- A full userdata with this metatable: `type()` answers as it does for WezTerm's objects.
local function userdata(metatable)
  return debug.setmetatable(host.new(), metatable)
end

--- A function that suspends its handler first, as each asynchronous one of mlua's does.
local function async(name, call)
  return function(...)
    count(name)
    coroutine.yield(ASYNC)
    return call(...)
  end
end

local function sync(name, call)
  return function(...)
    count(name)
    return call(...)
  end
end

---@type function[] # what Python knows by its number
M.kept = {}

--- A value as Python may keep it. A table or a function of a coroutine would outlive the state lupa reaches it by, so
--- tables go as JSON, functions as numbers and objects as their ids.
local function outward(value)
  if type(value) == 'function' then
    M.kept[#M.kept + 1] = value
    return #M.kept
  elseif type(value) == 'table' then
    return '\0' .. M.to_json(value)
  elseif ids[value] then
    return ids[value]
  end
  return value
end

--- The arguments of a call to Python.
local function outwards(...)
  local all = table.pack(...)
  for index = 1, all.n do
    all[index] = outward(all[index])
  end
  return table.unpack(all, 1, all.n)
end

--- What Python answers, made Lua's: it must not call into Lua itself while a coroutine runs.
local function answer(tag, first, ...)
  if tag == 'object' then
    return M.object(first, (...))
  elseif tag == 'objects' then
    local list = {}
    for index = 1, select('#', ...) do
      list[index] = M.object(first, (select(index, ...)))
    end
    return list
  elseif tag == 'infos' then
    local flat, list = { first, ... }, {}
    for index = 1, #flat, 7 do
      list[#list + 1] = {
        index = flat[index],
        is_active = flat[index + 1],
        is_zoomed = flat[index + 2],
        left = flat[index + 3],
        width = flat[index + 4],
        height = flat[index + 5],
        pane = M.object('Pane', flat[index + 6]),
      }
    end
    return list
  end
  return first, ...
end

--- An object with methods: an unknown one is nil.
function M.object(class, id)
  local found, methods = {}, M.methods[class]
  local object = userdata({
    __name = class,
    __index = function(_, key)
      if methods[key] == nil then
        return nil
      end
      if not found[key] then
        found[key] = (methods[key] and async or sync)(class .. ':' .. key, function(self, ...)
          return answer(M.call_method(class, key, ids[self], outwards(...)))
        end)
      end
      return found[key]
    end,
    __newindex = function()
      error('attempt to assign to a field of ' .. class)
    end,
    __tostring = function()
      return class .. '(' .. id .. ')'
    end,
    __eq = function(a, b)
      return ids[a] == ids[b]
    end,
  })
  ids[object] = id
  return object
end

--- An object with fields: an unknown one raises.
function M.information(class, fields, get)
  return userdata({
    __name = class,
    __index = function(_, key)
      if not fields[key] then
        error('attempt to get an unknown field ' .. describe(key))
      end
      count(class .. '.' .. key)
      return get(key)
    end,
    __newindex = function()
      error('attempt to assign to a field of ' .. class)
    end,
  })
end

--- A module: functions by name, asynchronous or not; an unknown one raises.
function M.module(name, functions, call)
  local module = {}
  for key, is_async in pairs(functions) do
    module[key] = (is_async and async or sync)(name .. '.' .. key, function(...)
      return answer(call(key, outwards(...)))
    end)
  end
  return setmetatable(module, {
    __index = function(_, key)
      error('the fake: there is no ' .. name .. '.' .. tostring(key))
    end,
  })
end

--- WezTerm's GLOBAL: copies in, objects have string keys.
local function global(store)
  return userdata({
    __name = 'GLOBAL',
    __index = function(_, key)
      if type(key) ~= 'string' then
        error('can only index objects using string values')
      end
      return store.get(key)
    end,
    __newindex = function(_, key, value)
      if type(key) ~= 'string' then
        error('can only index objects using string values')
      end
      local kind = type(value)
      if kind ~= 'string' and kind ~= 'number' and kind ~= 'boolean' and kind ~= 'nil' then
        error('the fake: only plain values are kept in GLOBAL, not a ' .. kind)
      end
      if kind == 'string' and not utf8.len(value) then
        error('GLOBAL: not UTF-8')
      end
      store.set(key, value)
    end,
  })
end

local function config_builder(known)
  local values = {}
  return setmetatable({}, {
    __index = values,
    __newindex = function(_, key, value)
      if not known[key] then
        error('invalid config option ' .. tostring(key))
      end
      values[key] = value
    end,
  })
end

--- `wezterm.json_encode` with its ways: a table met twice is null, `{}` is a map.
local function json_encode(value)
  local seen = {}
  local function encode(v)
    if type(v) == 'table' then
      if seen[v] then
        return 'null'
      end
      seen[v] = true
      return M.json_table(v, encode)
    elseif type(v) == 'string' then
      if not utf8.len(v) then
        error('json_encode: not UTF-8')
      end
      return host.quoted(v)
    elseif type(v) == 'function' or type(v) == 'userdata' then
      error('json_encode: a ' .. type(v))
    end
    return v == nil and 'null' or tostring(v)
  end
  return encode(value)
end

function M.json_table(value, encode)
  local parts = {}
  if value[1] ~= nil then
    for key in pairs(value) do
      if math.type(key) ~= 'integer' or key < 1 or key > #value then
        error('json_encode: a list with another key: ' .. tostring(key))
      end
    end
    for _, each in ipairs(value) do
      parts[#parts + 1] = encode(each)
    end
    return '[' .. table.concat(parts, ',') .. ']'
  end
  for key, each in pairs(value) do
    if type(key) ~= 'string' then
      error('json_encode: a key that is no string: ' .. tostring(key))
    end
    parts[#parts + 1] = host.quoted(key) .. ':' .. encode(each)
  end
  return '{' .. table.concat(parts, ',') .. '}'
end

--- The same for our own use, where a table may come twice.
function M.to_json(value)
  if type(value) == 'table' then
    return M.json_table(value, M.to_json)
  elseif type(value) == 'string' then
    return host.quoted(value)
  end
  return value == nil and 'null' or tostring(value)
end

local function actions()
  return userdata({
    __name = 'action',
    __index = function(_, name)
      host.check_action(name)
      local is_plain = name == 'Nop'
      local action = setmetatable({ __action = name }, {
        __call = function(_, argument)
          host.check_argument(name, outward(argument))
          return { __action = name, argument = argument }
        end,
      })
      return is_plain and { __action = name } or action
    end,
  })
end

--- Run *call*, or the function or thread of that number, as an asynchronous handler: it is resumed until it ends,
--- sleeps, or waits for a program. Returns whether it did without an error.
function M.drive(call, ...)
  call = M.kept[call] or call
  local before = M.mode
  M.mode = 'async'
  local thread = type(call) == 'thread' and call or coroutine.create(call)
  local arguments = table.pack(...)
  local is_good, result = coroutine.resume(thread, table.unpack(arguments, 1, arguments.n))
  while is_good and coroutine.status(thread) == 'suspended' do
    if math.type(result) or (result ~= ASYNC and type(result) == 'table') then
      -- Everything else goes on.
      M.kept[#M.kept + 1] = thread
      if math.type(result) then
        host.sleep(#M.kept, result)
      else
        host.wait(#M.kept, result.news)
      end
      break
    elseif result ~= ASYNC then
      error('the fake: a handler yielded by itself')
    end
    host.pause()
    M.mode = 'async'
    is_good, result = coroutine.resume(thread)
  end
  M.mode = before
  return is_good, result
end

--- Call a synchronous handler.
function M.call_sync(call, ...)
  M.mode = 'sync'
  local results = table.pack(pcall(M.kept[call], ...))
  M.mode = 'load'
  return table.unpack(results, 1, results.n)
end

--- Evaluate a configuration file.
function M.evaluate(source, name)
  local chunk, problem = load(source, '@' .. name, 't')
  if not chunk then
    error(problem)
  end
  local before = M.mode
  local is_good, result = M.drive(function()
    M.mode = 'load'
    return chunk()
  end)
  M.mode = before
  if not is_good then
    error(result, 0)
  end
  return result
end

function M.build(options)
  local wezterm = {}
  for key, value in pairs(options.values) do
    wezterm[key] = value
  end
  for key, is_async in pairs(options.functions) do
    wezterm[key] = (is_async and async or sync)('wezterm.' .. key, function(...)
      return answer(options.call(key, outwards(...)))
    end)
  end
  wezterm.json_encode = json_encode
  wezterm.sleep_ms = coroutine.yield
  local run = wezterm.run_child_process
  wezterm.run_child_process = function(argv)
    if argv[1] == 'sh' then
      return coroutine.yield({ news = argv[5] })
    end
    return run(argv)
  end
  wezterm.action = actions()
  wezterm.GLOBAL = global(options.store)
  wezterm.config_builder = function()
    return config_builder(options.config_keys)
  end
  setmetatable(wezterm, {
    __index = function(_, key)
      if options.absent[key] then
        return nil
      end
      error('the fake: there is no wezterm.' .. tostring(key))
    end,
  })
  package.loaded.wezterm = wezterm
  return wezterm
end

--- What reaches outside is counted; what WezTerm leaves out is gone.
function M.seal(path)
  for _, module in ipairs({ 'io', 'os' }) do
    for key, value in pairs(_G[module]) do
      if type(value) == 'function' then
        _G[module][key] = sync(module .. '.' .. key, value)
      end
    end
  end
  local time = os.time
  os.time = function(...)
    local real = time(...)
    return select('#', ...) > 0 and real or host.now()
  end
  package.path = path
  package.cpath = ''
  package.loadlib = nil
  package.loaded.debug = nil
  _G.debug = nil
  _G.python = nil
end

return M
