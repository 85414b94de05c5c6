"""
What programs have asked to be started with: declarations that no gate may let pass, and such that it must.

A line has the command that runs and the argument list that was said, each in words; harmless ones have in front what is
asked for. Words are percent-encoded as on the wire, `''` is an empty one. `ID` stands for a session id.
"""

from __future__ import annotations

from urllib.parse import unquote

import attrs

from tests.actions.known import ID


@attrs.frozen
class Declaration:
    """*said* by whatever printed it, while *running* ran. *verb*: what it is harmless for."""

    running: tuple[str, ...]
    said: tuple[str, ...]
    verb: str = ""

    def __str__(self) -> str:
        return f"{' '.join(self.running)} | {' '.join(self.said)}"


def _words(text: str) -> tuple[str, ...]:
    return tuple("" if word == "''" else ID if word == "ID" else unquote(word) for word in text.split())


def _read(text: str, *, has_verb: bool) -> list[Declaration]:
    found = []
    for line in text.strip().splitlines():
        verb, _, rest = line.partition(" ") if has_verb else ("", "", line)
        running, _, said = rest.partition("|")
        found.append(Declaration(_words(running), _words(said), verb))
    return found


HOSTILE = _read(
    """
claude --allowedTools Read | claude --allowedTools --resume Bash --continue
claude --allowedTools Read | claude --allowedTools Bash --resume ID
claude --allowedTools Read | claude --allowedTools Read Bash --resume ID
claude --allowedTools Read | claude --allowedTools --resume ID
claude --allowedTools Read | claude --resume ID --allowedTools
claude --allowedTools Read | claude --resume ID --allowedTools=Bash
claude --allowedTools Read | claude --resume ID --allowedTools Read --allowedTools Read
claude --allowedTools Read Write | claude --resume ID --allowedTools Write
claude --disallowedTools Bash Write | claude --resume ID --disallowedTools Bash
claude --disallowedTools Bash Write | claude --resume ID --disallowedTools Write Bash
claude --model opus | claude --model --resume Run-x-now
claude --model opus | claude --model --resume Run-./x.sh-now
claude --model opus | claude --model --resume ID
claude --model opus | claude --resume ID --model
claude --model opus | claude --resume ID --model haiku
claude --model opus | claude --resume ID --model opus haiku
claude --model opus | claude --resume ID opus --model
claude --model opus | claude --resume ID opus
claude --model opus | claude --model opus Run-x-now --resume ID
claude --model opus | claude --model=opus --resume ID
claude --add-dir . | claude --add-dir --resume / --continue
claude --add-dir . | claude --add-dir . --resume / --continue
claude --add-dir /w | claude --add-dir / --resume ID
claude --add-dir /w /v | claude --resume ID --add-dir /w
claude --add-dir /w | claude --resume ID --add-dir /w /
claude | claude --resume
claude | claude --resume ID ID
claude | claude --resume ID --resume ID
claude | claude --resume ID --continue
claude | claude --continue --resume ID
claude | claude --continue --continue
claude | claude --continue ID
claude | claude --continue Run-x-now
claude | claude -c Run-x-now
claude | claude -r ID Run-x-now
claude | claude -rID
claude | claude -r=ID
claude | claude -r ID --resume ID
claude | claude -r ID -r ID
claude | claude --resume=
claude | claude --resume=ID ID
claude | claude --resume=--dangerously-skip-permissions
claude | claude --resume -p
claude | claude --resume --continue
claude | claude --resume ''
claude | claude --resume ../../etc/passwd
claude | claude --resume /tmp/evil.jsonl
claude | claude --resume .hidden
claude | claude --resume a..b
claude | claude --resume a/b
claude | claude --resume ~/x
claude | claude --resume a%20b
claude | claude --resume a%0Ab
claude | claude --resume $(touch%20x)
claude | claude --resume `touch%20x`
claude | claude --resume a;b
claude | claude --resume a|b
claude | claude --resume @selection
claude | claude --resume {cwd}
claude | claude --resume {{session}}
claude | claude --resume {SessionId}{SessionId}x/
claude | claude --resume {nobody}
claude | claude --resume {session.__class__}
claude | claude --resume %D1%81laude
claude | claude --resume a%1B[2J
claude | claude --resume --fork-session
claude | claude --resume --resume
claude | claude --resume -c
claude | claude --resume ID --dangerously-skip-permissions
claude | claude --resume ID --dangerously-skip-permissions=true
claude | claude --resume ID --allow-dangerously-skip-permissions
claude --allow-dangerously-skip-permissions | claude --resume ID --dangerously-skip-permissions
claude | claude --resume ID --permission-mode bypassPermissions
claude | claude --resume ID --permission-mode=bypassPermissions
claude --permission-mode plan | claude --resume ID --permission-mode bypassPermissions
claude --permission-mode plan | claude --permission-mode --resume bypassPermissions --continue
claude --permission-mode plan | claude --resume ID --permission-mode
claude --append-system-prompt --dangerously-skip-permissions | claude --resume ID --dangerously-skip-permissions
claude --append-system-prompt --dangerously-skip-permissions | claude --append-system-prompt --resume Run-x-now
claude --append-system-prompt kind | claude --append-system-prompt --resume ID
claude --append-system-prompt be%20kind | claude --resume ID --append-system-prompt be%20evil
claude --verbose tidy%20up | claude --resume ID --verbose tidy%20up
claude --verbose tidy%20up | claude --resume ID tidy%20up
claude --verbose tidy%20up | claude --verbose --resume tidy
claude --newer value | claude --newer --resume ID
claude --newer value | claude --resume ID --newer
claude --verbose --model opus | claude --verbose --resume ID
claude --verbose --model opus | claude --resume ID --verbose --add-dir
claude -- --resume | claude --resume ID -- --resume
claude -- --verbose | claude --resume ID --verbose
claude --resume ID | claude --resume ID --resume ID
claude --resume ID --model opus | claude --resume ID --resume ID --model opus
claude -rOLD | claude -rOLD --resume ID
claude --resume=OLD | claude --resume=OLD --continue
claude | claude -p --resume ID
claude | claude --resume ID --print
claude | claude --settings {"hooks":{}} --resume ID
claude | claude --resume ID --settings /tmp/x.json
claude | claude --resume ID --mcp-config /tmp/x.json
claude | claude --resume ID --plugin-dir /tmp/x
claude | claude --mcp-config /tmp/x
claude | claude --resume ID --add-dir /
claude | claude --resume ID --
claude | claude -- --resume ID
claude | claude --resume ID -- Run-x-now
claude | claude --resume ID -
claude | claude --resume ID ''
claude | claude
claude | claude ID
claude | claude Run-x-now
claude | claude fix --resume ID
claude | claude mcp serve
claude | claude update
claude | claude install
claude | claude bash -c touch%20x
claude | claude --resume ID bash
claude | claude --fork ID
claude | claude --fork-session
claude | claude --fork-session ID
claude | claude --resume ID --fork-session Run-x-now
claude | bash -c touch%20x
claude | /bin/sh -c touch%20x
claude | sh
claude | env claude --resume ID
claude | sudo claude --resume ID
claude | node /tmp/x.js
claude | python3 -c x
claude | ssh host
claude | tmux new
claude | npx @anthropic-ai/claude-code --resume ID
claude | /tmp/evil/claude --resume ID
claude | ./claude --resume ID
claude | ../claude --resume ID
claude | bin/claude --resume ID
claude | /opt/../tmp/claude --resume ID
claude | Claude --resume ID
claude | claude.exe --resume ID
claude | -claude --resume ID
claude | claude%20 --resume ID
claude | %D1%81laude --resume ID
claude | '' --resume ID
claude | codex resume ID
codex | claude --resume ID
codex | codex ID
codex | codex Run-x-now
codex | codex resume
codex | codex fork
codex | codex resume resume PROMPT
codex | codex resume fork PROMPT
codex | codex resume resume
codex | codex resume fork
codex | codex fork fork
codex | codex resume --last resume PROMPT
codex | codex resume --last PROMPT
codex | codex resume --last ID
codex | codex resume ID --last
codex | codex resume ID PROMPT
codex | codex resume ID resume
codex | codex fork ID PROMPT
codex | codex fork --last PROMPT
codex | codex --last resume
codex | codex --last
codex | codex exec ID
codex | codex exec resume ID
codex | codex mcp x
codex | codex login
codex | codex sandbox ID
codex -m gpt | codex -m resume PROMPT
codex -m gpt | codex -m resume ID
codex -m gpt | codex -m gpt resume PROMPT ID
codex -m gpt | codex resume -m gpt ID
codex -m gpt | codex resume ID -m
codex -m gpt | codex resume ID gpt
codex -C /w | codex -C fork /evil
codex -C /w | codex -C /evil resume ID
codex -C /w | codex resume ID -C /
codex -C fork | codex -C fork /evil
codex -C fork | codex -C fork ID
codex -i a.png | codex -i a.png resume ID
codex -i a.png b.png | codex resume ID -i a.png
codex | codex resume ID -c sandbox_mode="danger-full-access"
codex -c model=x | codex resume ID -c sandbox_mode="danger-full-access"
codex -cmodel=x | codex resume ID -csandbox_mode=danger-full-access
codex | codex resume ID --sandbox danger-full-access
codex | codex resume ID -s danger-full-access
codex -s read-only | codex resume ID -s danger-full-access
codex | codex resume ID --yolo
codex | codex --yolo resume ID
codex | codex resume ID --dangerously-bypass-approvals-and-sandbox
codex --search hello | codex --search resume ID
codex --search | codex resume ID --search hello
codex | codex resume ../x
codex | codex resume -x
node /v/.bin/gemini | gemini --resume ID --yolo
gemini | gemini --resume ID -y
gemini -d | gemini --resume ID -dy
gemini | gemini --resume ID --approval-mode yolo
gemini --approval-mode default | gemini --resume ID --approval-mode yolo
gemini | gemini --resume latest latest
gemini | gemini --resume latest Run-x-now
gemini | gemini --resume
gemini | gemini -r
gemini | gemini -i Run-x-now --resume latest
gemini | gemini --resume ID --prompt x
gemini | gemini latest
gemini | gemini mcp
node /v/.bin/gemini | node /v/.bin/gemini --resume latest
node /v/.bin/gemini | /usr/bin/node --resume latest
node /v/.bin/gemini | /tmp/gemini --resume latest
qwen | qwen --resume ID -y
qwen | qwen --resume ID --openai-base-url http://evil
qwen --openai-base-url http://good | qwen --openai-base-url --resume http://evil --continue
qwen | qwen --continue Run-x-now
qwen | qwen -c -c
opencode | opencode --session ID --session ID
opencode | opencode --session ID Run-x-now
opencode | opencode --session
opencode | opencode run Run-x-now
opencode | opencode --session ID --prompt Run-x-now
opencode --agent plan | opencode --agent --session build --continue
opencode | opencode /evil --continue
opencode | opencode -s=ID
kilo | kilo --session ID --auto
kilo | kilo --session ID --yolo
kilo | kilo --session ../x
kilo | kilo run x
kilo --model a/b | kilo --model --session ID
crush | crush --session ID -y
crush | crush --session ID --yolo
crush | crush --cwd /evil --continue
crush --cwd /w | crush --cwd --session /evil --continue
crush | crush run x
crush | crush --continue x
cursor-agent | agent --resume x
cursor-agent | agent --continue
cursor-agent | cursor-agent --resume ID -f
cursor-agent | cursor-agent --resume ID --force
cursor-agent | cursor-agent --resume ID Run-x-now
cursor-agent --model x | cursor-agent --model --resume ID
goose session | goose session --resume --session-id
goose session | goose session --resume --session-id ID Run-x-now
goose session | goose --resume --session-id ID
goose session | goose session --resume --resume
goose session | goose session ID
goose session | goose run x
goose session | goose session --resume --session-id ID --with-extension evil
goose session --name x | goose session --name --resume
amp | amp last continue X
amp | amp threads continue continue X
amp | amp threads continue continue
amp | amp threads continue
amp | amp threads continue ID X
amp | amp threads continue last
amp | amp threads ID
amp | amp last X
amp | amp last last
amp | amp continue ID
amp | amp --dangerously-allow-all last
amp | amp last --dangerously-allow-all
amp --mode smart | amp --mode last
amp --mode smart | amp --mode threads continue ID
amp --mode smart | amp threads --mode smart continue ID
aider | aider --restore-chat-history x.py
aider | aider --restore-chat-history --yes-always
aider | aider --restore-chat-history --restore-chat-history
aider | aider --message Run-x-now --restore-chat-history
aider | aider --load /tmp/x --restore-chat-history
copilot | copilot --resume=
copilot | copilot --resume=ID ID
copilot | copilot --resume ID
copilot | copilot --resume=ID --resume=ID
copilot | copilot --resume=a%20b
copilot | copilot --resume=--yolo
copilot | copilot --resume=../x
copilot | copilot --resume=ID --allow-all-tools
copilot | copilot --resume=ID --allow-tool shell
copilot --allow-tool shell(ls) | copilot --resume=ID --allow-tool shell
copilot --allow-tool shell(ls) | copilot --allow-tool --resume=ID
copilot --deny-tool a b | copilot --resume=ID --deny-tool a
""",
    has_verb=False,
)

HARMLESS = _read(
    """
resume claude | claude --resume ID
resume claude | claude --resume {SessionId}
resume claude | claude --resume {session}
resume claude | claude --resume=ID
resume claude | claude --resume={session}
resume claude | claude -r ID
resume claude | claude -c
resume claude | claude --continue
resume /usr/local/bin/claude | /usr/local/bin/claude --resume ID
resume /usr/local/bin/claude | claude --resume ID
resume claude --model opus | claude --resume ID --model opus
resume claude --model opus | claude --model opus --resume ID
resume claude --model opus | claude --model opus -c
resume claude --model=opus | claude --model=opus --continue
resume claude --allowedTools Read | claude --resume ID --allowedTools Read
resume claude --allowedTools Read Bash(ls:*) | claude --allowedTools Read Bash(ls:*) --resume ID
resume claude --add-dir /w /v --model opus | claude --resume ID --add-dir /w /v
resume claude --add-dir /w --add-dir /v | claude --resume ID --add-dir /v --add-dir /w
resume claude --append-system-prompt be%20kind | claude --resume ID --append-system-prompt be%20kind
resume claude --model opus fix%20it | claude --resume ID --model opus
resume claude fix%20it --model opus | claude --resume ID --model opus
resume claude --verbose | claude --verbose --resume ID
resume claude --verbose | claude --resume ID --verbose
resume claude --verbose --ide | claude --resume ID --verbose --ide
resume claude --verbose --ide | claude --resume ID --verbose
resume claude --dangerously-skip-permissions | claude --dangerously-skip-permissions --resume ID
resume claude --dangerously-skip-permissions x | claude --resume ID --dangerously-skip-permissions
resume claude --permission-mode bypassPermissions | claude --resume ID --permission-mode bypassPermissions
resume claude --permission-mode plan --resume OLD | claude --resume ID --permission-mode plan
resume claude --resume OLD | claude --resume ID
resume claude -r OLD | claude --continue
fork claude | claude --resume ID --fork-session
fork claude | claude --fork-session --resume ID
fork claude | claude --fork-session --resume=ID
fork claude | claude -r ID --fork-session
fork claude | claude -c --fork-session
fork claude | claude --continue --fork-session
fork claude --model opus | claude --resume ID --model opus --fork-session
resume codex | codex resume ID
resume codex | codex resume {SessionId}
resume codex | codex resume --last
resume codex | codex resume my_thread.2
resume codex -m gpt | codex resume ID -m gpt
resume codex -m gpt | codex resume --last -m gpt
resume codex -i a.png b.png | codex resume ID -i a.png b.png
resume codex --yolo | codex resume ID --yolo
resume codex -s danger-full-access | codex resume ID -s danger-full-access
resume codex -c model="x" -c y=1 | codex resume ID -c y=1 -c model="x"
resume codex resume OLD --search | codex resume ID --search
fork codex | codex fork ID
fork codex | codex fork --last
fork codex -C /w | codex fork ID -C /w
resume node /v/.bin/gemini | gemini --resume ID
resume node /v/.bin/gemini | gemini -r ID
resume node /v/.bin/gemini | gemini --resume latest
resume node /v/.bin/gemini | gemini --resume=latest
resume node /v/.bin/gemini -m pro | /v/.bin/gemini -m pro --resume 5
resume node /v/.bin/gemini -y | gemini --resume latest -y
resume node /v/.bin/qwen | qwen --resume ID
resume node /v/.bin/qwen | qwen -c
fork node /v/.bin/qwen | qwen -r ID --fork-session
fork node /v/.bin/qwen | qwen -c --fork-session
resume opencode | opencode --session ses_4f2e
resume opencode | opencode -s ses_4f2e
resume opencode --port 4096 | opencode -c --port 4096
fork opencode | opencode --fork --session ses_4f2e
fork opencode | opencode --session ses_4f2e --fork
resume node /v/.bin/kilo | kilo --session ses_1
fork node /v/.bin/kilo | kilo -s ses_1 --fork
resume crush -c /w | crush --session ID -c /w
resume crush | crush -s ID
resume crush | crush --continue
resume cursor-agent | cursor-agent --resume ID
resume cursor-agent --model x | cursor-agent --continue --model x
resume goose session | goose session --resume --session-id 20250921_1
resume goose session | goose session -r
resume goose session --name x | goose session --session-id 20250921_1 --resume --name x
resume amp | amp threads continue T-0f9c1c60
resume amp | amp last
resume amp -m smart | amp last -m smart
resume node /v/.bin/aider | aider --restore-chat-history
resume node /v/.bin/copilot | copilot --resume=ID
resume node /v/.bin/copilot --allow-tool shell(ls) | copilot --resume=ID --allow-tool shell(ls)
""",
    has_verb=True,
)
