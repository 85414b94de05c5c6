"""
Names of programs that are no agents, whatever they look like.

Unknown agents are recognised by their behaviour (`evidence.unknown`). This table keeps the best known programs of a
terminal out from the start, so that their screens are not read.
"""

from __future__ import annotations

import re

from tallylight.evidence.commands import RUNNERS, SHELLS, Chain, Invocation, interpreter_name
from tallylight.evidence.process import GENERIC_SCRIPTS, Process, base_name, is_version, script_name


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Programs by kind. A name with a variant behind a dot (`vim.basic`) is that of the program.
ORDINARY: dict[str, frozenset[str]] = {
    "an editor": _words(
        "vi vim vimdiff view rvim gvim nvim neovim ex ed nano pico emacs emacsclient mg jed joe jmacs jstar "
        "ne micro kak helix hx tilde mcedit dte vis zile sam sandy code codium subl zed gedit kate lapce"
    ),
    "a pager or a viewer": _words(
        "less more most man info pinfo bat batcat glow mdcat moar ov lnav tail cat tac head watch hexyl xxd "
        "od diff delta difft diffr icdiff sdiff colordiff jless fx visidata vd csvlens multitail tspin w3m "
        "lynx elinks links browsh carbonyl"
    ),
    "a shell": SHELLS
    | _words("nu elvish xonsh pwsh powershell tcsh csh rc es oil osh ysh ion murex busybox login getty agetty newgrp"),
    "an interpreter at its prompt": _words(
        "ipython ipython3 bpython ptpython ptipython konch jupyter jupyter-console irb pry rails ghci cabal "
        "stack-repl iex erl utop ocaml sbcl clisp guile racket scala sbt jshell groovysh kotlin lua luajit "
        "tclsh wish R radian julia octave octave-cli gnuplot maxima gp sage bc dc qalc psql pgcli mysql "
        "mysqlsh mycli mariadb sqlite3 litecli redis-cli iredis mongosh mongo cqlsh duckdb usql sqlcmd "
        "sqlplus gdb lldb pdb ipdb jdb rr cgdb perldb php psysh deno bun"
    ),
    "version control": _words(
        "git tig lazygit gitui hg svn fossil jj gh-dash gh glab lab gitu magit bzr darcs pijul ugit stgit stg "
        "git-absorb sl pre-commit commitizen cz"
    ),
    "the way to another user or machine": _words(
        "sudo sudoedit doas su runuser pkexec run0 passwd chsh ssh-keygen ssh-add ssh-copy-id gpg gpg2 "
        "pinentry pass age cryptsetup kinit sftp scp rsync ftp lftp nc ncat socat minicom picocom screen tmux "
        "zellij byobu dtach abduco dvtm mtm asciinema ttyd script sshfs virsh"
    ),
    "a package manager or an installer": _words(
        "apt apt-get aptitude apt-listchanges dpkg dpkg-reconfigure debconf whiptail dialog dnf dnf5 yum "
        "zypper pacman yay paru pamac apk emerge portage nix nix-env nix-shell nixos-rebuild home-manager "
        "guix brew port flatpak snap xbps-install eopkg pkg opkg swupd pip pip3 pipx poetry pdm hatch uv rye "
        "conda mamba micromamba pixi gem bundle bundler cargo rustup go npm npx pnpm yarn corepack bower "
        "composer cpan cpanm mvn gradle gradlew mix rebar3 stack opam luarocks vcpkg conan mise asdf volta "
        "nvm fnm sdk helm make cmake ccmake ninja meson bazel buck2 just task tox nox pytest jest vitest "
        "turbo nx create-vite create-next-app plop yo terraform tofu pulumi ansible ansible-playbook vagrant "
        "packer"
    ),
    "a monitor": _words(
        "top htop btop bpytop bashtop atop glances nmon iotop iftop nethogs bmon vtop gtop gotop btm bottom "
        "zenith nvtop nvidia-smi radeontop intel_gpu_top powertop s-tui ps pstree procs lsof ss netstat ping "
        "mtr traceroute tcpdump tshark termshark journalctl systemctl dmesg vmstat iostat sar perf strace "
        "ltrace k9s lazydocker ctop dry dive docker-compose oxker wavemon bandwhich trippy speedtest"
    ),
    "a file manager or a finder": _words(
        "mc ranger nnn lf vifm yazi joshuto broot br xplr fff clifm felix cfiles ncdu gdu dua dust dutree duf "
        "df du ls eza exa lsd tree find fd rg grep ack ag fzf fzf-tmux sk skim peco percol fzy gum television "
        "tv zoxide atuin mcfly hstr navi tldr cheat choose sesh"
    ),
    "mail, chat, news or music": _words(
        "mutt neomutt aerc alpine pine mail mailx himalaya notmuch meli weechat irssi senpai profanity gomuks "
        "iamb tut newsboat newsraft rtv tuir cmus ncmpcpp mpv mplayer moc mocp musikcube spt spotify_player "
        "ncspot pulsemixer alsamixer nmtui nmcli bluetoothctl bluetuith calcurse khal taskwarrior-tui taskell "
        "wtf wtfutil hledger hledger-ui ledger sc-im"
    ),
    "a small tool": _words(
        "sleep yes tee xargs awk gawk mawk sed sort jq yq tr cut cp mv rm dd tar gzip zip unzip curl wget "
        "httpie http xh aria2c yt-dlp ffmpeg convert crontab at date cal clear reset tput stty tset read test "
        "true false echo printf tally tallylight kitty kitten wezterm"
    ),
}
#: The form of a program's name: ASCII, as in an agent file.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}", re.ASCII)
_ORDINARY = frozenset().union(*ORDINARY.values())
#: Programs that run another program: only the innermost one counts.
_RUN_ANOTHER = SHELLS | (RUNNERS - ORDINARY["the way to another user or machine"])


def is_ordinary(chain: Chain) -> bool:
    """Return whether the program that *chain* names is surely no agent."""
    names = [one.name for one in chain.invocations if not _only_runs_another(one)]
    # An interpreter at its prompt has no other name; a program that wrote its own title over its arguments has one.
    return not names or any(name in _ORDINARY or name.partition(".")[0] in _ORDINARY for name in names)


def is_shell(process: Process) -> bool:
    """Return whether *process* is a shell: at its prompt, or with a script."""
    return base_name(process.argv[0] if process.argv else process.exe) in ORDINARY["a shell"]


def _only_runs_another(invocation: Invocation) -> bool:
    """Return whether a program only runs another one: a shell, a wrapper, an interpreter."""
    return invocation.name in _RUN_ANOTHER or bool(interpreter_name(invocation.word))


def own_name(chain: Chain) -> str:
    """Return the name that a person would give the innermost program of *chain*; "" if it has no useful one."""
    place = own_place(chain)
    if place is None:
        return ""
    own = chain.invocations[place]
    name = own.name.rpartition("/")[2]
    if not own.is_package and (script_name(own.name) in GENERIC_SCRIPTS or is_version(own.name)):
        # A script called `cli.js`, and a program called by its version, have the name of the package they lie in.
        _, found, below = own.word.rpartition("/node_modules/")
        parts = below.split("/") if found else [""]
        name = parts[1] if parts[0].startswith("@") and len(parts) > 1 else parts[0]
    return name if _NAME.fullmatch(name) else ""


def own_place(chain: Chain) -> int | None:
    """Return the index in *chain* of its innermost program; None if all of them only run others."""
    return next((place for place, one in enumerate(chain.invocations) if not _only_runs_another(one)), None)
