import urwid

group: list[urwid.RadioButton] = []
rows = [urwid.Text("Which size?"), *(urwid.RadioButton(group, word) for word in ("Small", "Large"))]
rows += [urwid.Edit("Name: "), urwid.Button("Save", lambda _: leave()), urwid.Button("Cancel", lambda _: leave())]


def leave() -> None:
    raise urwid.ExitMainLoop


urwid.MainLoop(urwid.LineBox(urwid.ListBox(rows))).run()
