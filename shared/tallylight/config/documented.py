"""
The configuration with every key at its default and what each means, as `tally config default` prints it.

docs/configuration.md shows the same text. What stands behind a `#` has no default of its own.
"""

from __future__ import annotations

DEFAULTS = """\
poll_ms = 250         # how often each pane is looked at; 100 to 30000
silence_s = 4         # a guessed agent that is silent for so long waits for you; 0.1 to 60
stale_s = 30          # a guessed or titled "working" without evidence ends; 5 to 3600
fuse_s = 300          # a reported "working" without evidence ends; 10 to 3600, 0 is never
debounce_ms = 100     # changes faster than this are held back; 50 to 10000
keep_conversations = true   # keep what is open on disk, for `tally restore`; false: keep nothing

[trust]
explicit_lasts = "agent"    # how long one report silences guesses: "agent" or "tab"
unknown_agents = true       # a program that no agent file names may have a light; see trust.md
done_is = "done"            # as what a finished turn is shown: "done", or "waiting" until you act
idle_is = "idle"            # the same of an agent at its prompt: "idle" or "waiting"

[kitty]
style = "stripe"      # "stripe", "icon", "colour" (of the whole tab) or "off"
mark = true           # beside the stripe a sign that is not colour alone: ● ! ? ✓ ✓? ✗ ○ ◌ ·
strip_glyphs = true   # an agent's own signs (✳ ◐ ⠋) go from a title that has our mark beside it
pulse = true          # waiting lights pulse
splits = true         # each of several windows in a tab has its own light
os_window_title = "auto"    # the mark in the OS window's title: "auto" where no tab bar is seen, "always" or "off"

[panel]                # see list.md
width = 32            # columns of the panel; 24 to 40
per = "window"        # one in view in every tab of an OS window, or only where you opened it: "tab"

[notify]                # see notifications.md
when = ["waiting", "error", "done"]   # what you are told of: of these and "down"; [] is nothing
min_turn_s = 30       # the end of a shorter turn is not told; 0 to 3600
quiet = []            # spans of the day without notifications: ["22:00-07:00", "12:00-13:00"]
command = []          # run instead of a notification: ["/home/me/bin/tell", "--urgent"]
buttons = true        # answer a question, never a permission, by buttons of its notification (kitty)
snooze_min = 15       # how long a snooze is that names no time; 1 to 1440
delay_s = 0           # tell only what is still so after this many seconds; 0 to 3600
mute = []             # names of projects that you are never told of: ["notes"]
sounds = {}           # of a status: a sound of the desktop's theme, a file or "silent": {done = "silent", error = "~/x.oga"}

[push]                  # see serve.md: messages to browsers that are not open
question = false      # true: they say what is asked, which a locked phone may show; false: only whose agent needs you
private_hosts = []    # push services of your own network: ["push.lan", "push.lan:8443"]; others need a public address
contact = ""          # what push services are told of you: "mailto:you@example.org"; else the address of the page

[list]                  # see list.md
branches = true       # read the branch and the changes of each agent's repository; false: read none
pull_requests = false # and ask GitHub, by `gh`, for the open pull request of its branch and its checks

[history]               # see notifications.md
keep = true           # write down what agents did, for `tally log`; false: write nothing

[scripting]            # see scripting.md
allow = "own"         # what programs may do to panes: "none", "own" (type into those they started), "ask" (you, once), "all"

[keys]                # read by `tally setup`: a key as in kitty.conf, or "" for none; without an entry it finds one
# jump = "ctrl+shift+y"
# jump_previous = "ctrl+shift+a>k"
# agents = "ctrl+shift+i"
# panel = "ctrl+shift+a>p"
# fork = "ctrl+shift+a>f"
# resume = "ctrl+shift+a>r"
# snooze = "ctrl+shift+a>s"

[colours]
palette = "default"   # or "light", "theme", "protan", "deutan", "tritan"; colours below take the place of its own
working = "#3399FF"   # also "#39F", or a name: "blue", "orange"
waiting = "#FFAA00"   # pulses between this and a brighter one
background = "#1F5C99"
done = "#22CC66"
error = "#E5484D"
down = "#E5484D"
idle = "#888888"

[machines]            # see machines.md: other machines and containers, each by the command that runs one there
#   devbox = "ssh devbox"
#   ci = { command = "docker exec -i ci" }

[fleet]               # see fleet.md; without a broker there is none
# broker = "broker.example"   # where `tally publish` sends the state of this machine
# port = 8883         # 1883 without TLS
# tls = true          # off only if you say so, or if the broker is this machine
# ca_file = ""        # the authority of the broker's certificate; the system's if left out
# cert_file = ""      # a certificate of this client's
# key_file = ""       # the key of that certificate
# username = ""       # as whom, where the broker asks
# password_file = ""  # a file with the password, mode 600
# prefix = "tallylight"   # where the topics begin
# machine = ""        # the name of this machine; the host's name if left out
# keepalive_s = 20    # a machine that has vanished shows as gone after so many seconds; 10 to 3600
# marks = false       # true: a person who sees this machine's panes elsewhere may mark them as seen and snooze them
"""  # noqa: E501 - each comment stands behind its key
