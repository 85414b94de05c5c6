--- Text from programs, made harmless to show: one line without controls, bidirectional or other invisible characters,
--- without stacks of combining marks, and not longer than asked for.
---
--- The rules are those of `text.py`, but for three things Lua has no tables for: nothing is composed (NFC), an emoji
--- joined from several loses its joiners and is drawn as several, and what Unicode has not assigned in the planes of
--- scripts and emoji stays. Pure; never raises; linear in the length.

local M = {}

--- Marks kept on one base.
M.MARKS = 4
--- Bytes of the input that are looked at for each cell of the output.
local BYTES_A_CELL = 64

--- First and last code points, sorted.
local SPACES = {
  { 0x09, 0x0D },
  { 0x85, 0x85 },
  { 0xA0, 0xA0 },
  { 0x1680, 0x1680 },
  { 0x2000, 0x200A },
  { 0x2028, 0x2029 },
  { 0x202F, 0x202F },
  { 0x205F, 0x205F },
  { 0x2800, 0x2800 },
  { 0x3000, 0x3000 },
  { 0x13441, 0x13442 },
  { 0x1D159, 0x1D159 },
}
local INVISIBLE = {
  { 0x00, 0x1F },
  { 0x7F, 0x9F },
  { 0xAD, 0xAD },
  { 0x34F, 0x34F },
  { 0x600, 0x605 },
  { 0x61C, 0x61C },
  { 0x6DD, 0x6DD },
  { 0x70F, 0x70F },
  { 0x890, 0x891 },
  { 0x8E2, 0x8E2 },
  { 0x1039, 0x1039 },
  { 0x115F, 0x11FF },
  { 0x17B4, 0x17B5 },
  { 0x17D2, 0x17D2 },
  { 0x180B, 0x180F },
  { 0x1A60, 0x1A60 },
  { 0x1BAB, 0x1BAB },
  { 0x200B, 0x200F },
  { 0x202A, 0x202E },
  { 0x2060, 0x206F },
  { 0x2D7F, 0x2D7F },
  { 0x3164, 0x3164 },
  { 0xAAF6, 0xAAF6 },
  { 0xD7B0, 0xD7FB },
  { 0xD800, 0xDFFF },
  { 0xFDD0, 0xFDEF },
  { 0xFE00, 0xFE0F },
  { 0xFEFF, 0xFEFF },
  { 0xFFA0, 0xFFA0 },
  { 0xFFF0, 0xFFFC },
  { 0x10A3F, 0x10A3F },
  { 0x1107F, 0x1107F },
  { 0x110BD, 0x110BD },
  { 0x110CD, 0x110CD },
  { 0x11133, 0x11133 },
  { 0x113D0, 0x113D0 },
  { 0x1193E, 0x1193E },
  { 0x11A47, 0x11A47 },
  { 0x11A99, 0x11A99 },
  { 0x11D45, 0x11D45 },
  { 0x11D97, 0x11D97 },
  { 0x11F42, 0x11F42 },
  { 0x13430, 0x13440 },
  { 0x13447, 0x13455 },
  { 0x16FE4, 0x16FE4 },
  { 0x1BC9D, 0x1BC9D },
  { 0x1BCA0, 0x1BCA3 },
  { 0x1D173, 0x1D17A },
  { 0x1DA9B, 0x1DA9F },
  { 0x1DAA1, 0x1DAAF },
  { 0xE0000, 0xE0FFF },
}
--- Of these, what is spelling between two letters of its script, and those letters.
local STACKERS = {
  [0x1039] = { { 0x1000, 0x1038 }, { 0x103A, 0x109F }, { 0xA9E0, 0xA9FE }, { 0xAA60, 0xAA7F } },
  [0x17D2] = { { 0x1780, 0x17B3 }, { 0x17B6, 0x17D1 } },
  [0x1A60] = { { 0x1A20, 0x1A5E }, { 0x1A61, 0x1A7C } },
  [0x1BAB] = { { 0x1B80, 0x1BAA }, { 0x1BAC, 0x1BBF } },
  [0x2D7F] = { { 0x2D30, 0x2D67 } },
  [0xAAF6] = { { 0xAAE0, 0xAAF5 }, { 0xABC0, 0xABEA } },
  [0x11133] = { { 0x11100, 0x11132 } },
}
--- Vowels and finals of Hangul syllables, and what they may stand behind.
local JAMO = { { 0x1161, 0x11FF }, { 0xD7B0, 0xD7FB } }
local BEFORE_JAMO = { { 0x1100, 0x115E }, { 0xA960, 0xA97C }, { 0xAC00, 0xD7A3 } }
--- Of private use and not assigned, but for the signs of Nerd Fonts, which WezTerm brings along: nobody knows what they
--- draw, if anything.
local UNKNOWN = {
  { 0xE00B, 0xE09F },
  { 0xE0D8, 0xE1FF },
  { 0xE2AA, 0xE2FF },
  { 0xE3E4, 0xE5F9 },
  { 0xE8F0, 0xEA5F },
  { 0xEC1F, 0xECFF },
  { 0xF534, 0xF8FF },
  { 0x40000, 0xDFFFF },
  { 0xE1000, 0xF0000 },
  { 0xF1AF1, 0x10FFFF },
}
--- The blocks of combining marks: what is stacked on a base in abuse.
local MARKS = {
  { 0x300, 0x36F },
  { 0x483, 0x489 },
  { 0x591, 0x5BD },
  { 0x610, 0x61A },
  { 0x64B, 0x65F },
  { 0x816, 0x82D },
  { 0x8D3, 0x902 },
  { 0xE31, 0xE31 },
  { 0xE34, 0xE3A },
  { 0xE47, 0xE4E },
  { 0xF18, 0xF84 },
  { 0x1AB0, 0x1AFF },
  { 0x1DC0, 0x1DFF },
  { 0x20D0, 0x20FF },
  { 0x302A, 0x302D },
  { 0x3099, 0x309A },
  { 0xFE20, 0xFE2F },
}
local WIDE = {
  { 0x1100, 0x115F },
  { 0x231A, 0x231B },
  { 0x23E9, 0x23EC },
  { 0x25FD, 0x25FE },
  { 0x2614, 0x2615 },
  { 0x2648, 0x2653 },
  { 0x267F, 0x267F },
  { 0x2693, 0x2693 },
  { 0x26A1, 0x26A1 },
  { 0x26AA, 0x26CE },
  { 0x26D4, 0x26FD },
  { 0x2705, 0x2705 },
  { 0x270A, 0x270B },
  { 0x2728, 0x2728 },
  { 0x274C, 0x2757 },
  { 0x2795, 0x2797 },
  { 0x27B0, 0x27BF },
  { 0x2B1B, 0x2B55 },
  { 0x2E80, 0x303E },
  { 0x3041, 0x4DBF },
  { 0x4E00, 0xA4CF },
  { 0xA960, 0xA97C },
  { 0xAC00, 0xD7A3 },
  { 0xF900, 0xFAFF },
  { 0xFE10, 0xFE19 },
  { 0xFE30, 0xFE6B },
  { 0xFF01, 0xFF60 },
  { 0xFFE0, 0xFFE6 },
  { 0x16FE0, 0x1B2FF },
  { 0x1F004, 0x1F004 },
  { 0x1F0CF, 0x1F0CF },
  { 0x1F18E, 0x1F320 },
  { 0x1F32D, 0x1FAFF },
  { 0x20000, 0x3FFFD },
}

---@param point integer
---@param ranges integer[][]
---@return boolean
local function is_in(point, ranges)
  local low, high = 1, #ranges
  while low <= high do
    local middle = (low + high) // 2
    local range = ranges[middle]
    if point < range[1] then
      high = middle - 1
    elseif point > range[2] then
      low = middle + 1
    else
      return true
    end
  end
  return false
end

--- The cells that one code point takes: 0, 1 or 2. Ambiguous ones count 1.
---@param point integer
---@return integer
local function width_of(point)
  if point < 0x300 then
    return 1
  elseif is_in(point, MARKS) then
    return 0
  end
  return is_in(point, WIDE) and 2 or 1
end

--- Whether *point*, which draws nothing by itself, is spelling: *before* is the letter that it follows, *left* and
--- *right* what it stands between.
---@param point integer
---@param before integer
---@param left integer|nil
---@param right integer|nil
---@return boolean
local function is_spelling(point, before, left, right)
  local letters = STACKERS[point]
  if letters then
    return is_in(left or 0, letters) and is_in(right or 0, letters)
  end
  return is_in(point, JAMO) and is_in(before, BEFORE_JAMO)
end

--- The longest start of at most *most* bytes that does not end within a character.
---@param value string
---@param most integer
---@return string
local function cut(value, most)
  if #value <= most then
    return value
  end
  while most > 0 and (value:byte(most + 1) & 0xC0) == 0x80 do
    most = most - 1
  end
  return value:sub(1, most)
end

--- *value*, harmless, at most *cells* wide. What is no text gives nothing; what is over is cut off.
---@param value any
---@param cells integer|nil # 256
---@return string
function M.sanitise(value, cells)
  cells = cells or 256
  if type(value) ~= 'string' then
    return ''
  end
  value = cut(value, cells * BYTES_A_CELL)
  if not value:find('[^\32-\126]') then
    return value:sub(1, cells)
  end
  if not utf8.len(value) then
    value = value:gsub('[\128-\255]', '')
  end
  local points = {}
  for _, point in utf8.codes(value) do
    points[#points + 1] = is_in(point, SPACES) and 0x20 or point
  end
  local kept = {}
  local marks = M.MARKS
  --- What stands before a run of what draws nothing.
  local before = 0
  for index, point in ipairs(points) do
    local is_hidden = is_in(point, INVISIBLE) or point & 0xFFFE == 0xFFFE
    if not is_hidden or is_spelling(point, before, points[index - 1], points[index + 1]) then
      local wide = width_of(point)
      cells = cells - wide
      marks = point == 0x20 and M.MARKS or wide == 0 and marks + 1 or 0
      if cells < 0 then
        break
      end
      if marks <= M.MARKS then
        kept[#kept + 1] = utf8.char(is_in(point, UNKNOWN) and 0xFFFD or point)
      end
    end
    before = is_hidden and before or point
  end
  return table.concat(kept)
end

return M
