--- Contrast: how far a colour must move to stand out from what it touches, and to be read. `contrast.py` says why.
---
--- Pure. Colours are `#RRGGBB`. A test compares the results with Python's.

local memo = require('tallylight.model.memo')

local M = {}

M.BLACK, M.WHITE = '#000000', '#FFFFFF'
--- What a sign that is read has with its ground, and what a filled area has with what it touches; ratios.
M.SIGN, M.FILL = 4.5, 3
--- Green that is closer to amber than this ratio is not filled.
M.NEWS = 1.5
--- Of lightness, from black to white.
local STEPS = 100

---@param colour string
---@return integer red, integer green, integer blue
local function channels(colour)
  local number = tonumber(colour:sub(2), 16)
  return number >> 16, number >> 8 & 0xFF, number & 0xFF
end

---@param channel integer
---@return number
local function linear(channel)
  local share = channel / 255
  return share <= 0.04045 and share / 12.92 or ((share + 0.055) / 1.055) ^ 2.4
end

---@param colour string
---@return number # the relative luminance of WCAG 2
local function luminance(colour)
  local red, green, blue = channels(colour)
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
end

---@param one string
---@param other string
---@return number # 1 to 21
function M.ratio(one, other)
  local a, b = luminance(one), luminance(other)
  return (math.max(a, b) + 0.05) / (math.min(a, b) + 0.05)
end

--- Black or white, whichever stands out more on *ground*.
---@param ground string
---@return string
function M.readable_on(ground)
  return M.ratio(M.BLACK, ground) >= M.ratio(M.WHITE, ground) and M.BLACK or M.WHITE
end

---@param colour string
---@return number lightness, number a, number b
local function oklab(colour)
  local red, green, blue = channels(colour)
  red, green, blue = linear(red), linear(green), linear(blue)
  local long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ^ (1 / 3)
  local medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ^ (1 / 3)
  local short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ^ (1 / 3)
  return 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
    1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
end

--- How different two colours look: their distance in OKLab, 0 to about 1.
---@param one string
---@param other string
---@return number
function M.distance(one, other)
  local lightness, a, b = oklab(one)
  local beside, c, d = oklab(other)
  return ((lightness - beside) ^ 2 + (a - c) ^ 2 + (b - d) ^ 2) ^ 0.5
end

---@return number[] # linear red, green and blue; some may be out of 0 to 1
local function linear_rgb(lightness, a, b)
  local long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ^ 3
  local medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ^ 3
  local short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ^ 3
  return {
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
  }
end

---@param share number
---@return integer
local function channel_of(share)
  share = math.min(1, math.max(0, share))
  return math.floor(255 * (share <= 0.0031308 and 12.92 * share or 1.055 * share ^ (1 / 2.4) - 0.055) + 0.5)
end

local function is_shown(lightness, a, b)
  for _, share in ipairs(linear_rgb(lightness, a, b)) do
    if share < 0 or share > 1 then
      return false
    end
  end
  return true
end

--- A colour of OKLab in sRGB, with as much of its chroma as there is at that lightness.
---@return string
local function shown(lightness, a, b)
  local low, high = 0, 1
  if is_shown(lightness, a, b) then
    low = 1
  else
    for _ = 1, 12 do
      local middle = (low + high) / 2
      if is_shown(lightness, a * middle, b * middle) then
        low = middle
      else
        high = middle
      end
    end
  end
  local rgb = linear_rgb(lightness, a * low, b * low)
  return string.format('#%02X%02X%02X', channel_of(rgb[1]), channel_of(rgb[2]), channel_of(rgb[3]))
end

---@param colour string
---@param grounds string[]
---@param least number
local function stands_out(colour, grounds, least)
  for _, ground in ipairs(grounds) do
    if M.ratio(colour, ground) < least then
      return false
    end
  end
  return true
end

---@param colour string
---@param grounds string[]
---@param least number
---@return string|nil
local function found_by_moving(colour, grounds, least)
  if stands_out(colour, grounds, least) then
    return colour
  end
  local lightness, a, b = oklab(colour)
  for step = 1, STEPS do
    for _, level in ipairs({ lightness + step / STEPS, lightness - step / STEPS }) do
      local found = level >= 0 and level <= 1 and shown(level, a, b)
      if found and stands_out(found, grounds, least) then
        return found
      end
    end
  end
  return nil
end

local remembered = memo.of(256, function(_, ...)
  return found_by_moving(...)
end)

--- The colour nearest to *colour*, lighter or darker, that has the ratio *least* with each of *grounds*; nil where no
--- lightness is enough.
---@param colour string
---@param grounds string[]
---@param least number
---@return string|nil
function M.moved(colour, grounds, least)
  return remembered(colour .. least .. table.concat(grounds), colour, grounds, least)
end

--- *colour* as a sign on *ground*; black or white where no colour of its hue can be read there.
---@param colour string
---@param ground string
---@return string
function M.legible(colour, ground)
  return M.moved(colour, { ground }, M.SIGN) or M.readable_on(ground)
end

--- *colour* as the fill of what needs a person, in a bar with the colours *touching* it.
---@param colour string
---@param touching string[]
---@return string
function M.filled(colour, touching)
  local dark = {}
  for _, ground in ipairs(touching) do
    if M.ratio(M.BLACK, ground) < M.FILL then
      dark[#dark + 1] = ground
    end
  end
  return M.moved(colour, dark, M.FILL) or M.WHITE
end

--- Whether a bar with these *fills* needs a black cell for the mark, since one of them hardly stands out.
---@param fills string[]
---@param touching string[]
---@return boolean
function M.needs_caps(fills, touching)
  for _, fill in ipairs(fills) do
    if not stands_out(fill, touching, M.FILL) then
      return true
    end
  end
  return false
end

--- *colour* as the fill of the mark of news on *ground*; nil, for no fill, where it would look like *amber*.
---@param colour string
---@param ground string
---@param amber string
---@return string|nil
function M.news(colour, ground, amber)
  local fill = M.moved(colour, { ground }, M.FILL)
  return fill and M.ratio(fill, amber) >= M.NEWS and fill or nil
end

--- *colour* with a share of white.
---@param colour string
---@param share number
---@return string
function M.lighter(colour, share)
  local function part(channel)
    return math.floor(channel + (255 - channel) * share + 0.5)
  end
  local red, green, blue = channels(colour)
  return string.format('#%02X%02X%02X', part(red), part(green), part(blue))
end

return M
