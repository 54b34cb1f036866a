"""The words of results that print as sentences."""


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless there is one.

    Examples
    --------
    >>> count(1, "positive"), count(3012, "negative")
    ('1 positive', '3012 negatives')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def interval(low: float, high: float, level: float) -> str:
    """A confidence interval in words.

    Examples
    --------
    >>> interval(0.811, 0.873, 0.95)
    '95% CI 0.811 to 0.873'
    """
    return f"{100 * level:g}% CI {signless(low)} to {signless(high)}"


def signed(number: float, digits: int = 3) -> str:
    """A difference with its sign; what rounds to zero has none.

    Examples
    --------
    >>> signed(0.0121), signed(-0.02), signed(-0.0002)
    ('+0.012', '-0.020', '0.000')
    """
    text = signless(number, digits)
    return f"+{text}" if number > 0 and float(text) != 0 else text


def signless(number: float, digits: int = 3) -> str:
    """A number with a few digits; what rounds to zero has no sign.

    Examples
    --------
    >>> signless(-0.0002), signless(-0.02)
    ('0.000', '-0.020')
    """
    text = f"{number:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text
