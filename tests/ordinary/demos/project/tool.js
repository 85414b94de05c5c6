for (const each of [1, 2, 3]) {
  console.log(each * 2);
}
setTimeout(() => {}, 1000);
