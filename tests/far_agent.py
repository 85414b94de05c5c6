"""
An agent behind ssh, made up: a program that works beside an input of its own until the file *go* is there, then asks.

After a key it clears its screen and ends, so that the shell that started it shows its prompt.
"""

SOURCE = r"""
import itertools, os, sys, termios, time, tty
go, before = sys.argv[1], termios.tcgetattr(0)
tty.setraw(0)

def draw(row, column, *rows):
    sys.stdout.write("\x1b[2J\x1b[H" + "\r\n".join(rows) + f"\x1b[{row};{column}H")
    sys.stdout.flush()

for glyph in itertools.cycle("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"):
    box = "╭" + "─" * 40 + "╮", "│ >" + " " * 38 + "│", "╰" + "─" * 40 + "╯"
    draw(5, 5, "Hello", "", glyph + " Thinking", *box, "  model")
    if os.path.exists(go):
        break
    time.sleep(0.07)
draw(6, 1, "Run this command?", "  npm test", "", "❯ 1. Yes", "  2. No", "", "Enter to select, Esc to cancel")
os.read(0, 1)
draw(1, 1, "")
termios.tcsetattr(0, termios.TCSANOW, before)
"""
#: The same dialog, of any program.
_DIALOG = "Run this command?\\n  npm test\\n\\n❯ 1. Yes\\n  2. No\\n\\nEnter to select, Esc to cancel"
ORDINARY = f"clear; printf '{_DIALOG}'; read -r x"
