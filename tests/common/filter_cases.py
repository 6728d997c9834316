#!/usr/bin/env python3
"""Random filter expressions, each with a C function that says what it must give: CASE(text, C).

What the compiler makes of an operator, its precedence and its signs is the truth; texts are matched
by fnmatch(3). Unknown values (a field that is not there, a division by zero) take SQL's three-valued
logic, spelt out in the test. The seed is fixed: a failure comes again."""
import random
import sys

SIGNED = ["s8", "s16", "s32", "s64"]
FIELDS = SIGNED + ["u8", "u16", "u32", "u64"]
LITERALS = ["0", "1", "2", "3", "7", "8", "127", "128", "255", "0x80", "0xff", "32767", "65535", "010",
            "0x7fffffff", "0x80000000", "4294967295", "9223372036854775807", "0x8000000000000000",
            "18446744073709551615", "100", "12345"]
ARITHMETIC = [("|", 3), ("^", 4), ("&", 5), ("<<", 8), (">>", 8), ("+", 9), ("-", 9), ("*", 10)]
COMPARE = [("==", 6), ("!=", 6), ("<", 7), ("<=", 7), (">", 7), (">=", 7)]
GLOBS = ["dot*", "*net", "d?tnet", "*o*", "[a-d]ot*", "[!a-d]*", "*", "dotnet", "", "*.*", "a*b*c", "ab[c]",
         "\\*star", "?*", "[]x]*"]
UNARY_LEVEL = 11


class Expression:
    """Text for the filter, text for C, the level of its outermost operator."""

    def __init__(self, text, c, level):
        self.text, self.c, self.level = text, c, level

    def at(self, level):
        """Parentheses only where C's grammar wants them."""
        if self.level >= level:
            return self
        return Expression(f"({self.text})", f"({self.c})", 12)


def literal():
    text = random.choice(LITERALS)
    value = int(text, 8 if text != "0" and text[0] == "0" and text[1:2] != "x" else 0)
    return Expression(text, f"{value}{'ULL' if value >= 2**63 else 'LL'}", 12)


def field():
    if random.random() < 0.15:
        index = random.randrange(4)
        return Expression(f"array[{index}]", f"((long long)r->array[{index}])", 12)
    name = random.choice(FIELDS)
    kind = "unsigned long long" if name == "u64" else "long long"
    return Expression(random.choice(["", "args."]) + name, f"(({kind})r->{name})", 12)


def number(depth):
    choice = random.random()
    if depth == 0 or choice < 0.3:
        return field() if random.random() < 0.7 else literal()
    if choice < 0.4:
        operand = number(depth - 1).at(UNARY_LEVEL)
        operator = random.choice("-~")
        return Expression(f"{operator} {operand.text}", f"{operator} {operand.c}", UNARY_LEVEL)
    operator, level = random.choice(ARITHMETIC)
    left = number(depth - 1).at(level)
    right = number(depth - 1).at(level + 1)
    if operator in ("<<", ">>"):
        count = str(random.randrange(64))
        right = Expression(count, count, 12)
    return Expression(f"{left.text} {operator} {right.text}", f"{left.c} {operator} {right.c}", level)


def text_condition():
    pattern = random.choice(GLOBS)
    quoted = '"' + pattern.replace("\\", "\\\\") + '"'
    operator = random.choice(["==", "!=", "~", "!~"])
    if operator in ("==", "!="):
        return Expression(f"comm {operator} {quoted}", f"(strcmp(r->comm, {quoted}) {operator} 0)", 6)
    negation = "" if operator == "~" else "!"
    return Expression(f"comm {operator} {quoted}", f"({negation}glob({quoted}, r->comm))", 6)


def comparison(depth):
    if random.random() < 0.15:
        return text_condition()
    if random.random() < 0.15:
        return number(depth)
    operator, level = random.choice(COMPARE)
    left = number(depth).at(8)
    right = (number(depth) if random.random() < 0.3 else literal()).at(8)
    return Expression(f"{left.text} {operator} {right.text}", f"{left.c} {operator} {right.c}", level)


def condition(depth):
    choice = random.random()
    if depth == 0 or choice < 0.3:
        return comparison(random.randrange(3))
    if choice < 0.45:
        operand = condition(depth - 1).at(UNARY_LEVEL)
        return Expression(f"!{operand.text}", f"!{operand.c}", UNARY_LEVEL)
    operator, level = random.choice([("&&", 2), ("||", 1)])
    left, right = condition(depth - 1).at(level), condition(depth - 1).at(level + 1)
    return Expression(f"{left.text} {operator} {right.text}", f"{left.c} {operator} {right.c}", level)


def uncertain_number():
    choice = random.random()
    if choice < 0.25:
        return Expression("ghost", "UNKNOWN(0LL)", 12)
    if choice < 0.6:
        left, right = number(1).at(11), number(1).at(11)
        operator, name = random.choice([("/", "DIVIDE"), ("%", "REMAINDER")])
        return Expression(f"({left.text} {operator} {right.text})", f"{name}({left.c}, {right.c})", 12)
    return number(1)


def uncertain(depth):
    """Always in parentheses: the C side is function calls."""
    choice = random.random()
    if depth == 0 or choice < 0.3:
        operator, _ = random.choice(COMPARE)
        left, right = uncertain_number().at(12), uncertain_number().at(12)
        return Expression(f"({left.text} {operator} {right.text})", f"KNOWN({left.c} {operator} {right.c})", 12)
    if choice < 0.45:
        operand = uncertain(depth - 1)
        return Expression(f"!{operand.text}", f"not3({operand.c})", 12)
    operator, name = random.choice([("&&", "and3"), ("||", "or3")])
    left, right = uncertain(depth - 1), uncertain(depth - 1)
    return Expression(f"({left.text} {operator} {right.text})", f"{name}({left.c}, {right.c})", 12)


def main():
    random.seed(20261)
    for _ in range(int(sys.argv[1])):
        case = condition(random.randrange(4))
        print("CASE(\"%s\", !!(%s))" % (case.text.replace("\\", "\\\\").replace('"', '\\"'), case.c))
    for _ in range(int(sys.argv[2])):
        case = uncertain(random.randrange(4))
        print("CASE(\"%s\", %s)" % (case.text.replace("\\", "\\\\").replace('"', '\\"'), case.c))


main()
