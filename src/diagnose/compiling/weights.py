"""What a fact counts for a cause: what a person believes, corrected by what labelled reports taught."""

from __future__ import annotations

from collections.abc import Mapping

Weights = Mapping[str, Mapping[str, float]]


def weighed(beliefs: Weights, corrections: Weights) -> dict[str, dict[str, float]]:
    """For each cause the weight of each fact that is believed to matter, the heaviest first.

    Args:
        beliefs: kb/beliefs.toml, for each cause what each fact counts.
        corrections: kb/corrections.toml, the learned differences; a belief without one stands as it is.
    """
    return {
        cause: dict(
            sorted(
                (
                    (fact, round(belief + corrections.get(cause, {}).get(fact, 0.0), 2))
                    for fact, belief in table.items()
                ),
                key=lambda item: -item[1],
            )
        )
        for cause, table in beliefs.items()
    }


def corrections_of(beliefs: Weights, learned: Weights) -> dict[str, dict[str, float]]:
    """What must be added to the beliefs to get the learned weights, the greatest difference first.

    Args:
        beliefs: as for `weighed`.
        learned: the weight of each of these pairs.
    """
    found = {}
    for cause, table in beliefs.items():
        differences = {
            fact: round(learned[cause][fact] - belief, 2) for fact, belief in table.items()
        }
        changed = [(fact, change) for fact, change in differences.items() if change]
        if changed:
            found[cause] = dict(sorted(changed, key=lambda item: -abs(item[1])))
    return found
