import cliProgress from "cli-progress";
import { Listr } from "listr2";
import ora from "ora";

const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const spinner = ora("Looking for updates").start();
await wait(2000);
spinner.succeed();
await new Listr([
  { title: "Lint", task: () => wait(1500) },
  { title: "Test", task: () => wait(1500) },
]).run();
const bar = new cliProgress.SingleBar({});
bar.start(30, 0);
for (let n = 0; n < 30; n++) {
  await wait(60);
  bar.increment();
}
bar.stop();
