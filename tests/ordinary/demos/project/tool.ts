const words: number = "x";
