# shellcheck shell=bash
# Tallylight: the agents it knows run through its relay, `tally run`. Without it, once: \claude or `command claude`.
# https://www.gnu.org/software/bash/manual/bash.html#Aliases

if [[ $- == *i* ]]; then

# ----------------------------------------------------------------------------------------------------------------------
# How an agent is run: through the relay on a terminal, as it is in a pipe or where tally is gone.

function __tally_run {
    if [[ -t 0 && -t 1 ]] && type -P tally >/dev/null; then
        command tally run -- "$@"
    else
        command "$@"
    fi
}

# ----------------------------------------------------------------------------------------------------------------------
# What its name becomes: an alias, which \claude and `command` pass by, and which bash completes as what it names. One
# that is there already is kept and put behind the relay, if it names the agent. A function of that name is left alone.

function __tally_alias {
    local value
    if declare -F -- "$1" >/dev/null; then
        return 0
    elif value=$(alias -- "$1" 2>/dev/null); then
        # As the shell prints it, the value is quoted.
        value=${value#*=}
        local word=${value#\'}
        word=${word%%[ \']*}
        if [[ ${word##*/} == "$1" ]]; then
            eval "alias -- $1='__tally_run '$value"
        fi
    elif type -P -- "$1" >/dev/null; then
        # shellcheck disable=SC2139 # it is to be expanded now
        alias -- "$1=__tally_run $1"
    fi
}

# ----------------------------------------------------------------------------------------------------------------------
# The agents.

for __tally_agent in @AGENTS@; do
    __tally_alias "$__tally_agent"
done
unset -v __tally_agent
unset -f __tally_alias

fi

# ----------------------------------------------------------------------------------------------------------------------
# To use it, add this line to the end of ~/.bashrc:
#
#   eval "$(tally shell-init bash)"
