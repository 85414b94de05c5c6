# Tallylight: the agents it knows run through its relay, `tally run`. Without it, once: `command claude`.
# https://fishshell.com/docs/current/cmds/function.html

if status is-interactive

# ----------------------------------------------------------------------------------------------------------------------
# How an agent is run: through the relay on a terminal, as it is in a pipe or where tally is gone.

function __tally_run
    if test -t 0; and test -t 1; and command -sq tally
        command tally run -- $argv
    else
        command $argv
    end
end

# ----------------------------------------------------------------------------------------------------------------------
# What its name becomes: a function, which `command` passes by and which fish completes as what it names. A function or
# alias of that name that is there already is left alone.

function __tally_define
    if not command -sq $argv[1]
        return 0
    end
    if functions -q $argv[1]; and not functions $argv[1] | string match -q '*__tally_run*'
        return 0
    end
    set -l agent $argv[1]
    function $agent --wraps $agent --inherit-variable agent
        __tally_run $agent $argv
    end
end

# ----------------------------------------------------------------------------------------------------------------------
# The agents.

for __tally_agent in @AGENTS@
    __tally_define $__tally_agent
end
set -e __tally_agent
functions -e __tally_define

end

# ----------------------------------------------------------------------------------------------------------------------
# To use it, add this line to ~/.config/fish/config.fish:
#
#   tally shell-init fish | source
