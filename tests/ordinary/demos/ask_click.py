import time

import click

with click.progressbar(range(20), label="Copying") as bar:
    for _ in bar:
        time.sleep(0.1)
click.prompt("Which port?", default=8080)
click.confirm("Do you want to drop the table?", abort=True)
