# Tallylight: the agents it knows run through its relay, `tally run`. Without it, once: \claude or `command claude`.
# https://zsh.sourceforge.io/Doc/Release/Shell-Grammar.html#Aliasing

if [[ -o interactive ]]; then

# ----------------------------------------------------------------------------------------------------------------------
# How an agent is run: through the relay on a terminal, as it is in a pipe or where tally is gone.

function __tally_run {
    if [[ -t 0 && -t 1 ]] && whence -p tally >/dev/null; then
        command tally run -- "$@"
    else
        command "$@"
    fi
}

# ----------------------------------------------------------------------------------------------------------------------
# What its name becomes: an alias, which \claude and `command` pass by. One that is there already is kept and put behind
# the relay, if it names the agent. A function of that name is left alone.

function __tally_alias {
    emulate -L zsh
    local word
    if (( ${+functions[$1]} )); then
        return 0
    elif (( ${+aliases[$1]} )); then
        word=${aliases[$1]%% *}
        if [[ ${word##*/} == "$1" ]]; then
            alias -- "$1=__tally_run ${aliases[$1]}"
        fi
    elif whence -p -- "$1" >/dev/null; then
        alias -- "$1=__tally_run $1"
    fi
}

# ----------------------------------------------------------------------------------------------------------------------
# How it is completed: zsh expands the alias, and what follows `__tally_run` is completed as a command of its own. That is
# said as soon as the completion system is there, which may be after this.

function __tally_complete {
    if (( ${+functions[compdef]} )); then
        compdef _precommand __tally_run
        precmd_functions=("${(@)precmd_functions:#__tally_complete}")
    fi
}

# ----------------------------------------------------------------------------------------------------------------------
# The agents.

for __tally_agent in @AGENTS@; do
    __tally_alias "$__tally_agent"
done
unset __tally_agent
unfunction __tally_alias

typeset -ga precmd_functions
precmd_functions=("${(@)precmd_functions:#__tally_complete}" __tally_complete)
__tally_complete

fi

# ----------------------------------------------------------------------------------------------------------------------
# To use it, add this line to the end of ~/.zshrc:
#
#   eval "$(tally shell-init zsh)"
