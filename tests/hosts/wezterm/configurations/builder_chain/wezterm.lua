local Config = require('builder')
require('tabs').setup({ icon = 'numbered' })
return Config:init()
   :append(require('look'))
   :append({ tab_max_width = 30 }).options
