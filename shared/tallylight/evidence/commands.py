"""
Commands in front of commands: interpreters, package runners, wrappers, and ways to another machine.

`unwrap` turns an argument list into the programs that it names, outermost first: `sudo -u x npx -y @openai/codex` is
`sudo`, then `npx`, then the package `@openai/codex`. Only certain words are followed: the script of an interpreter is
its first word that is no option, so `python3 manage.py claude` names only `manage`. At most `MAX_NESTED_COMMANDS`
programs are named and at most `MAX_COMMAND_WORDS` words are read.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallylight.evidence.process import base_name, package_name, script_name
from tallylight.model import attributes

MAX_NESTED_COMMANDS = 12
MAX_COMMAND_WORDS = 256
_MAX_COMMAND_CHARS = 4096


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@attributes.frozen
class Invocation:
    """
    One program as an argument list names it.

    *word* is its name as written, a path or a package; *args* are its own arguments. *interpreter* is the name of the
    interpreter that runs it. *is_package*: a runner was asked for a package of that name.
    """

    name: str
    word: str
    args: tuple[str, ...] = ()
    interpreter: str = ""
    is_package: bool = False


@attributes.frozen
class Chain:
    """
    The programs of one argument list, outermost first.

    *is_open*: the last one runs something that the list does not name, such as a script that is no agent, `npm run`, or
    a compound shell command. Its child processes show it.
    """

    invocations: tuple[Invocation, ...]
    is_open: bool = False


@attributes.frozen
class _Interpreter:
    """
    The options of an interpreter.

    *takes*: options with the next word as value; *code*: options that no script follows.
    """

    takes: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()
    module: str = ""


@attributes.frozen
class _Wrapper:
    """
    A program that runs the command among its arguments.

    *takes*: options with the next word as value; *skip*: words of its own before the command; *verbs*: the
    command follows only after one of these; *command*: options with a shell command as value; *package*: the
    first word is a package; *module*: options with a Python module as value.
    """

    takes: frozenset[str] = frozenset()
    skip: int = 0
    verbs: tuple[tuple[str, ...], ...] = ()
    command: frozenset[str] = frozenset()
    package: bool = False
    module: frozenset[str] = frozenset()
    #: The command is only what is behind `--`.
    dashes: bool = False


_NODE = _Interpreter(
    _words("-r --require --import --loader --experimental-loader -C --conditions --env-file --title --inspect-port"),
    _words("-e --eval -p --print -pe -c --check"),
)
_SHELL = _Interpreter(_words("-o +o -O +O --rcfile --init-file"), frozenset({"-c"}))
_PYTHON = _Interpreter(_words("-W -X -Q --check-hash-based-pycs"), frozenset({"-c"}), "-m")
_INTERPRETERS = {
    "node": _NODE,
    "nodejs": _NODE,
    "bun": _Interpreter(_words("-r --preload --cwd --env-file -c --config"), _words("-e --eval -p --print")),
    "deno": _Interpreter(_words("-c --config --import-map --env-file --preload"), _words("eval repl")),
    "python": _PYTHON,
    "ruby": _Interpreter(_words("-r -I -C -E"), frozenset({"-e"})),
    "perl": _Interpreter(_words("-I"), _words("-e -E")),
    "php": _Interpreter(_words("-d -c -f"), frozenset({"-r"})),
}
SHELLS = _words("sh bash dash zsh fish ksh mksh ash")

_RUN_PACKAGE = _words("-p --package -c --call -w --workspace --registry --prefix --cache --loglevel")
_UV_TAKES = _words(
    "-p --python --with --with-editable --with-requirements --project --directory --extra --group --only-group "
    "--no-group --env-file --index --default-index --index-url --find-links --from --package --cache-dir --config-file"
)
_NPM_VERBS = (("exec",), ("x",))
_PACKAGE_VERBS = (("dlx",), ("exec",))

_WRAPPERS: dict[str, _Wrapper] = {
    "env": _Wrapper(_words("-u --unset -C --chdir"), command=_words("-S --split-string")),
    "sudo": _Wrapper(
        _words(
            "-u --user -g --group -h --host -p --prompt -C --close-from -T --command-timeout -r --role -t --type -D "
            "--chdir -R --chroot -U --other-user"
        )
    ),
    "doas": _Wrapper(_words("-u -C -a")),
    "su": _Wrapper(_words("-s --shell -g --group -G -w"), command=_words("-c --command"), skip=MAX_COMMAND_WORDS),
    "runuser": _Wrapper(_words("-u --user -g --group -G -s --shell -w"), command=_words("-c --command")),
    "nice": _Wrapper(_words("-n --adjustment")),
    "ionice": _Wrapper(_words("-c --class -n --classdata -p -P -u")),
    "chrt": _Wrapper(_words("-T -P -D"), skip=1),
    "taskset": _Wrapper(_words("-p"), skip=1),
    "time": _Wrapper(_words("-f --format -o --output")),
    "timeout": _Wrapper(_words("-s --signal -k --kill-after"), skip=1),
    "nohup": _Wrapper(),
    "setsid": _Wrapper(),
    "stdbuf": _Wrapper(_words("-i --input -o --output -e --error")),
    "unbuffer": _Wrapper(),
    "rlwrap": _Wrapper(_words("-a -b -C -D -e -f -g -H -l -M -O -p -P -q -s -S -t -w -z")),
    "caffeinate": _Wrapper(_words("-t -w")),
    "strace": _Wrapper(_words("-o -e -p -s -u -E -a -P")),
    "dbus-run-session": _Wrapper(_words("--dbus-daemon --config-file"), dashes=True),
    "systemd-run": _Wrapper(_words("-p --property -u --unit -E --setenv --uid --gid --slice --working-directory -M")),
    "sshpass": _Wrapper(_words("-f -d -p -P")),
    "script": _Wrapper(
        _words("-a -B -E -I -m -o -O -T -t --log-io --log-in --log-out --log-timing --echo --output-limit"),
        command=_words("-c --command -qc -qec -qfc -efqc"),
        dashes=True,
    ),
    "npx": _Wrapper(_RUN_PACKAGE, package=True),
    "pnpx": _Wrapper(_RUN_PACKAGE, package=True),
    "bunx": _Wrapper(_words("-p --package"), package=True),
    "uvx": _Wrapper(_UV_TAKES, package=True),
    "npm": _Wrapper(_RUN_PACKAGE, verbs=_NPM_VERBS, package=True),
    "pnpm": _Wrapper(_RUN_PACKAGE | _words("-C --dir --filter"), verbs=_PACKAGE_VERBS, package=True),
    "yarn": _Wrapper(_RUN_PACKAGE | _words("--cwd"), verbs=_PACKAGE_VERBS, package=True),
    "uv": _Wrapper(_UV_TAKES, verbs=(("tool", "run"), ("run",)), package=True, module=_words("-m --module")),
    "pipx": _Wrapper(_words("--spec --python --pip-args --index-url"), verbs=(("run",),), package=True),
    "poetry": _Wrapper(_words("-C --directory -P --project"), verbs=(("run",),)),
    "pipenv": _Wrapper(_words("--python"), verbs=(("run",),)),
    "pdm": _Wrapper(_words("-p --project"), verbs=(("run",),)),
    "hatch": _Wrapper(_words("-e --env"), verbs=(("run",),)),
    "conda": _Wrapper(_words("-n --name -p --prefix --cwd"), verbs=(("run",),)),
    "mise": _Wrapper(_words("-C --cd -E --env"), verbs=(("exec",), ("x",)), dashes=True),
    "volta": _Wrapper(_words("--node --npm --yarn"), verbs=(("run",),)),
    "direnv": _Wrapper(skip=1, verbs=(("exec",),)),
    "op": _Wrapper(verbs=(("run",),), dashes=True),
}
#: Our own relay and recorder run the command in a terminal of its own.
_RELAYS = _words("tally tallylight")
_WRAPPERS |= dict.fromkeys(_RELAYS, _Wrapper(verbs=(("run",),)))
_RECORDER = _Wrapper(verbs=(("record",),), dashes=True)
#: Programs that run the command among their arguments.
RUNNERS = frozenset(_WRAPPERS)

#: Programs that run their command elsewhere: it cannot be known from here, and must not be acted on.
REMOTE = _words(
    "ssh autossh mosh mosh-client et slogin telnet rlogin rsh docker podman nerdctl kubectl oc k9s lxc incus "
    "machinectl systemd-nspawn nsenter toolbox distrobox distrobox-enter vagrant devcontainer"
)
#: The same behind a word of their own.
_REMOTE_VERBS = {
    "kitten": _words("ssh"),
    "kitty": _words("+kitten"),
    "wezterm": _words("ssh"),
    "gh": _words("codespace cs"),
    "gcloud": _words("compute"),
}


def is_remote(invocation: Invocation) -> bool:
    """Return whether *invocation* shows a program of another machine or container."""
    if invocation.name in REMOTE:
        return True
    verbs = _REMOTE_VERBS.get(invocation.name)
    return bool(verbs and invocation.args and invocation.args[0] in verbs)


#: Options with the next word as value, by program (ssh(1), mosh(1), `docker exec --help`, `kubectl exec --help`).
_SSH_TAKES = _words(
    "-B -b -c -D -E -e -F -I -i -J -L -l -M -m -O -o -P -p -Q -R -S -W -w --ssh --port --predict --bind-server"
)
_EXEC_TAKES = _words(
    "-e --env --env-file -u --user -w --workdir --detach-keys -n --namespace -c --container --context --cluster "
    "--kubeconfig -s --server --cwd -H --host -l --login -r --release --uid -E --setenv"
)
#: Words before the name of a container or machine; the other programs name it at once.
_EXEC_VERBS = _words("exec attach enter shell login ssh container compose compute +kitten codespace cs")
_NAMES_AT_ONCE = _words("ssh autossh mosh mosh-client et slogin telnet rlogin rsh")


def far_name(invocation: Invocation) -> str:
    """
    Return the name that a person typed for the machine or container of *invocation*: `cart` of `ssh -p 22 me@cart`.

    "" if that is unclear, as for an image that `docker run` starts.
    """
    words = list(invocation.args)
    is_ssh = invocation.name in _NAMES_AT_ONCE
    takes, has_verb = (_SSH_TAKES, True) if is_ssh else (_EXEC_TAKES, invocation.name == "distrobox-enter")
    while words:
        word = words.pop(0)
        if word == "--" or word.startswith("-"):
            del words[: word in takes]
        elif not is_ssh and word in _EXEC_VERBS:
            has_verb = True
        elif not has_verb:
            return ""
        else:
            name = word.removeprefix("ssh://").rpartition("@")[2].removeprefix("pod/")
            return name.partition(":")[0] if name.count(":") == 1 else name
    return ""


def is_relayed(argv: Sequence[str]) -> bool:
    """Return whether *argv* is `tally run` with a command, whatever else is in front of it."""
    return any(one.name in _RELAYS and one.args[:1] == ("run",) for one in unwrap(argv).invocations)


def interpreter_name(word: str) -> str:
    """Return the interpreter that *word* names (`/usr/bin/python3.12` is `python`), or ""."""
    name = base_name(word)
    if name in SHELLS or name in _INTERPRETERS:
        return name
    stem = name.rstrip("0123456789.")
    return stem if stem != name and stem in {"python", "ruby", "perl", "php", "node", "ksh"} else ""


def unwrap(argv: Sequence[str], exe: str = "", comm: str = "") -> Chain:
    """Return the programs that *argv* names; *exe* and *comm* help where it names little."""
    words = list(argv[:MAX_COMMAND_WORDS])
    while words and not words[-1]:
        words.pop()  # a program that sets its own title leaves the rest of the old arguments as empty ones
    if not words:
        name = base_name(exe) if exe else base_name(comm)
        return Chain((Invocation(name, exe or comm),) if name else ())
    if len(words) == 1 and words[0].startswith(("npm ", "npx ", "pnpm ", "yarn ")):
        words = words[0].split()[:MAX_COMMAND_WORDS]  # npm makes one title of its arguments
    found: list[Invocation] = []
    is_open = _follow_words(words, found, exe)
    return Chain(tuple(found), is_open)


def arguments(argv: Sequence[str], exe: str = "", comm: str = "") -> tuple[str, ...]:
    """Return all arguments of the last program that *argv* names, without those of an interpreter or runner."""
    chain = unwrap(argv, exe, comm).invocations
    at = list(argv).index(chain[-1].word) if chain and chain[-1].word in argv else 0
    return tuple(argv[at + 1 :])


def _follow_words(words: Sequence[str], found: list[Invocation], exe: str = "") -> bool:
    """Add the programs that *words* names to *found*; return whether the last of them runs something unknown."""
    if not words or len(found) >= MAX_NESTED_COMMANDS:
        return False
    word, args = words[0], list(words[1:])
    name = base_name(word)
    own = tuple(args)
    found.append(Invocation(name, word, own))
    kind = interpreter_name(word)
    if exe and base_name(exe) != name:
        found.append(Invocation(base_name(exe), exe, own))
        # A version manager's launcher may name itself and run an interpreter.
        kind = kind or interpreter_name(exe)
    if kind in SHELLS:
        return _follow_shell(kind, args, found)
    if kind == "bun" and args[:1] == ["x"]:
        return _follow_words(["bunx", *args[1:]], found)
    if kind:
        return _follow_script(kind, args[1:] if kind in {"bun", "deno"} and args[:1] == ["run"] else args, found)
    return _follow_wrapper(name, args, found)


def _follow_script(kind: str, args: list[str], found: list[Invocation]) -> bool:
    """Add the script or module of the interpreter *kind*, as `_follow_words` does."""
    table = _INTERPRETERS[kind]
    position = 0
    while position < len(args):
        arg = args[position]
        if table.module and arg.startswith(table.module) and not arg.startswith("--"):
            rest = args[position + 1 :]
            module = arg[2:] or (rest.pop(0) if rest else "")
            return _follow_by_name(_module_name(module), module, rest, kind, found)
        if arg in table.code or (kind == "python" and arg.startswith("-c")):
            return True
        if not arg.startswith("-") and arg:
            if arg.startswith("npm:"):
                return _follow_package(arg, args[position + 1 :], found)
            return _follow_by_name(script_name(arg), arg, args[position + 1 :], kind, found)
        position += 2 if arg in table.takes else 1
    return False


def _module_name(module: str) -> str:
    """Return the program of a Python module: `aider.main` is run as `aider`; `manage.claude` is not `claude`."""
    package, dot, rest = module.partition(".")
    return package if not dot or rest in {"main", "__main__", "cli"} else module


def _follow_by_name(name: str, word: str, args: list[str], kind: str, found: list[Invocation]) -> bool:
    """Add the program *name*, and those that it names in turn, as `_follow_words` does."""
    if not name:
        return False
    name = {"npx-cli": "npx", "npm-cli": "npm"}.get(name, name)
    found.append(Invocation(name, word, tuple(args), interpreter=kind))
    before = len(found)
    # A program that is no wrapper, or one that led nowhere certain, runs something unknown.
    return name not in _WRAPPERS or _follow_wrapper(name, args, found) or len(found) == before


def _follow_shell(kind: str, args: list[str], found: list[Invocation]) -> bool:
    """Add the command or script of a shell, as `_follow_words` does; an interactive shell has none."""
    position = 0
    while position < len(args):
        arg = args[position]
        if arg == "--command" or (arg.startswith("-") and not arg.startswith("--") and arg.endswith("c")):
            return _follow_command(args[position + 1], found) if position + 1 < len(args) else False
        if arg == "--":
            position += 1
            break
        if not arg.startswith(("-", "+")):
            break
        position += 2 if arg in _SHELL.takes or arg in {"-eo", "-euo"} else 1
    if position < len(args) and args[position]:
        return _follow_by_name(base_name(args[position]), args[position], args[position + 1 :], kind, found)
    return False  # an interactive shell: its jobs have groups of their own


def _follow_command(text: str, found: list[Invocation]) -> bool:
    """Add the programs of the one simple command of a shell command line; True if it is not that simple."""
    if len(text) > _MAX_COMMAND_CHARS:
        return True
    try:
        import shlex  # few commands are a shell's

        lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=";&|()<>")
        lexer.whitespace_split = True
        words = list(lexer)[:MAX_COMMAND_WORDS]
    except ValueError:
        return True
    if any(word and not word.strip(";&|()<>") for word in words) or any(c in text for c in "`$"):
        # More than one command, or words that only the shell knows. Its children show it.
        return True
    while words and (words[0] in {"exec", "command"} or _is_assignment(words[0])):
        words.pop(0)
    return _follow_words(words, found)


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _follow_wrapper(name: str, args: list[str], found: list[Invocation]) -> bool:
    """Add the command behind the program *name* if it is a wrapper, as `_follow_words` does."""
    table = _RECORDER if name in _RELAYS and args[:1] == ["record"] else _WRAPPERS.get(name)
    if table is None:
        return False
    if table.verbs:
        position = 0
        while position < len(args) and _is_option(args[position]):
            position += 2 if args[position] in table.takes else 1
        verb = next((verb for verb in table.verbs if tuple(args[position : position + len(verb)]) == verb), None)
        if verb is None:
            return True  # `npm run dev`, `uv sync`: its children show it
        args = args[position + len(verb) :]
    return _follow_after_verb(table, args, found)


def _follow_after_verb(table: _Wrapper, args: list[str], found: list[Invocation]) -> bool:
    """Add the command among the arguments of a wrapper, behind its verb, as `_follow_words` does."""
    position, skip, is_behind_dashes = 0, table.skip, False
    while position < len(args):
        arg, rest = args[position], args[position + 1 :]
        if arg == "--":
            is_behind_dashes = True
            position += 1
        elif arg in table.module and rest:
            return _follow_by_name(_module_name(rest[0]), rest[0], rest[1:], "python", found)
        elif (command := _shell_command(table, arg, rest)) is not None:
            return _follow_command(command, found)
        elif not is_behind_dashes and _is_option(arg):
            position += 2 if arg in table.takes else 1
        elif not arg or _is_assignment(arg) or (table.dashes and not is_behind_dashes):
            position += 1
        elif skip > 0:
            skip -= 1
            position += 1
        else:
            return _follow_package(arg, rest, found) if table.package else _follow_words(args[position:], found)
    return bool(table.verbs)


def _shell_command(table: _Wrapper, arg: str, rest: list[str]) -> str | None:
    """Return the shell command that is the value of the option *arg*, in it or behind it; None if it has none."""
    option, equals, value = arg.partition("=")
    if option not in table.command or (equals and not value):
        return None
    return value if equals else next(iter(rest), None)


def _is_option(arg: str) -> bool:
    return arg.startswith("-") and len(arg) > 1


def _follow_package(word: str, args: list[str], found: list[Invocation]) -> bool:
    """Add a runner's command to *found*: a package, or a program of one; True if it runs something unknown."""
    name = package_name(word)
    if name.startswith("@") or (name != word and name not in _WRAPPERS):
        found.append(Invocation(name, word, tuple(args), is_package=True))
        return False
    before = len(found)
    is_open = _follow_words([word, *args], found)
    if len(found) > before:
        found[before] = attributes.evolve(found[before], is_package=True)
    # An unknown name may be a package with a program of another name.
    return is_open or len(found) == before + 1
