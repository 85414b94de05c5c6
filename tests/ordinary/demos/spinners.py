import time

from alive_progress import alive_bar
from tqdm import tqdm
from yaspin import yaspin

with yaspin(text="Resolving"):
    time.sleep(2)
for _ in tqdm(range(30), desc="Downloading"):
    time.sleep(0.06)
with alive_bar(30, title="Converting") as bar:
    for _ in range(30):
        time.sleep(0.06)
        bar()
