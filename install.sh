#!/bin/sh
# Install tallylight for this user and wire kitty. It only finds a Python; the rest is `tally setup`, which this
# runs from the checkout: see shared/tallylight/cli/setup.py.
#
#   ./install.sh [--yes] [--dry-run] [--undo] [--uninstall] [--help]
set -u

main() {
	here=$(cd -- "$(dirname -- "$0")" && pwd -P) || err "cannot find the directory of $0"
	[ -f "$here/shared/tallylight/cli/setup.py" ] || err "$here is not a whole checkout of tallylight: clone it again"
	python=$(find_python) || err "no Python 3.11 or newer on PATH.
  Debian, Ubuntu: sudo apt install python3    Fedora: sudo dnf install python3    macOS: brew install python3"
	# -I: nothing of the person's own Python set-up. -B: the checkout may be read-only, and stays as it is.
	exec "$python" -IB -c '
import sys

sys.path.insert(0, sys.argv[1])
from tallylight.cli.main import main

sys.exit(main(["setup", *sys.argv[2:]]))
' "$here/shared" "$@"
}

# The first Python that is new enough. python3 first: the numbered ones are for systems whose own is older.
find_python() {
	for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
		found=$(command -v "$name" 2>/dev/null) || continue
		if "$found" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
			echo "$found"
			return 0
		fi
	done
	return 1
}

err() {
	printf 'install.sh: %s\n' "$1" >&2
	exit 1
}

# Last, so that half a download runs nothing.
main "$@"
