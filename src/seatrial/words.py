"""Numbers with their noun, for the texts that people read."""


def counted(number: int, noun: str) -> str:
    """`1 pod`, `2 pods`, `1,000 pods`; for nouns that get an s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
