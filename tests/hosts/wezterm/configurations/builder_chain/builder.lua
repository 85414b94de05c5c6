local Config = {}
Config.__index = Config
function Config:init()
  return setmetatable({ options = {} }, self)
end
function Config:append(more)
  for key, value in pairs(more) do
    if self.options[key] ~= nil then
      error('twice: ' .. key)
    end
    self.options[key] = value
  end
  return self
end
return Config
