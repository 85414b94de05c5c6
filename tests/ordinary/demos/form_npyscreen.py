import npyscreen


class App(npyscreen.NPSApp):
    def main(self) -> None:
        form = npyscreen.Form(name="An account")
        form.add(npyscreen.TitleText, name="Name:")
        form.add(npyscreen.TitleSelectOne, name="Shell", values=["bash", "zsh", "fish"], max_height=4)
        form.edit()


App().run()
