def double(number: int) -> int:
    return number * 2


for each in range(3):
    print(double(each))  # noqa: T201
