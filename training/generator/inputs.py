"""How a host's batches are made, looped over and moved: tuples or dictionaries, line by line or at once."""

from __future__ import annotations

from random import Random

from .model import Piece
from .templates import Style

_HELPER = '''def {name}(batch, device):
    """The batch on a device."""
    return {kind}  #: input-not-moved|{edit}|{operand}'''


class Inputs:
    """The rows of a host that have to do with its batches."""

    def __init__(self, piece: Piece, style: Style, rng: Random) -> None:
        fields = [one.name for one in piece.fields]
        self.labels = rng.choice(("labels", "y", "target", "targets"))
        keys = [*fields, self.labels]
        makes = [one.make for one in piece.fields] + ["torch.randint($classes, ($n,))"]
        self.imports: list[str] = []
        self.defs = ""
        size = rng.choice((4, 6))
        form = rng.choice(("tuple", "tuple", "dict", "custom")) if not piece.whole else "whole"
        if not piece.whole:
            form = style.settings.get("batches", form)
        self.first = fields[0]
        target = style.settings.get("to", "$device")
        last = style.settings.get("labels_to", target)
        if form == "whole":
            self.data = f"loader = [({', '.join(makes)}) for _ in range(2)]"
        elif form == "tuple":
            self.imports = ["from torch.utils.data import DataLoader, TensorDataset"]
            self.data = (
                f"dataset = TensorDataset({', '.join(makes)})\n"
                f"loader = DataLoader(dataset, batch_size={size}, shuffle={rng.choice((True, False))})"
            )
        else:
            self._dataset(form, keys, makes, rng)
            self.data += f"\nloader = DataLoader(dataset, batch_size={size})"
        self.names = "batch" if form in ("dict", "custom") else ", ".join(keys)
        self.given = ", ".join(fields)
        self.loop = f"for {self.names} in loader:"
        taken = f"{', '.join(keys)} = {', '.join(map(self._key, keys))}"
        self.unpack = taken if form in ("dict", "custom") else f"{self.names} = batch"
        if style.settings.get("moves") == "none":
            self.moves = taken if form in ("dict", "custom") else ""
        elif form in ("dict", "custom"):
            self._of_dictionary(keys, target, last, rng)
        else:
            self._of_names(keys, target, last, rng)

    @staticmethod
    def _key(name: str) -> str:
        return f'batch["{name}"]'

    def _dataset(self, form: str, keys: list[str], makes: list[str], rng: Random) -> None:
        self.imports = ["from torch.utils.data import DataLoader, Dataset"]
        name = rng.choice(("Samples", "Records", "ToyData", "Examples"))
        rows = [f"class {name}(Dataset):", "    def __init__(self):"]
        rows += [f"        self.{key} = {make}" for key, make in zip(keys, makes, strict=True)]
        rows += [
            "",
            "    def __len__(self):",
            "        return $n",
            "",
            "    def __getitem__(self, index):",
        ]
        rows += [
            f"        return {{{', '.join(f'{chr(34)}{one}{chr(34)}: self.{one}[index]' for one in keys)}}}"
        ]
        self.defs = "\n".join(rows)
        self.data = f"dataset = {name}()"

    def _of_names(self, keys: list[str], target: str, last: str, rng: Random) -> None:
        """Tensors that the loop names: a line each, or all in one."""
        wrong = "input-not-moved|unmove:{0}|{0}"
        places = [target] * (len(keys) - 1) + [last]
        if target != last:
            rows = []
            for key, place in zip(keys, places, strict=True):
                cause = "cross-shard-op" if key == keys[-1] else "input-on-wrong-shard"
                other = last if place == target else target
                also = "|hardcoded-device" if place.startswith('"') else ""
                rows.append(
                    f"{key} = {key}.to({place})  #: {cause}|sub:{place}=>{other}|{key}{also}"
                    f"  #: {wrong.format(key)}"
                )
            self.moves = "\n".join(rows)
        elif rng.random() < 0.5:
            self.moves = "\n".join(
                f"{key} = {key}.to({target})  #: {wrong.format(key)}" for key in keys
            )
        else:
            notes = "".join(f"  #: {wrong.format(key)}" for key in keys)
            moved = ", ".join(f"{key}.to({target})" for key in keys)
            self.moves = f"{', '.join(keys)} = {moved}{notes}"

    def _of_dictionary(self, keys: list[str], target: str, last: str, rng: Random) -> None:
        """A dictionary: moved by a comprehension, by a helper, or where each tensor is taken out."""
        way = rng.choice(("comprehension", "helper", "keys")) if target == last else "keys"
        named = self.unpack
        if way == "comprehension":
            self.moves = (
                f"batch = {{key: value.to({target}) for key, value in batch.items()}}"
                f"  #: input-not-moved|delete|batch\n{named}"
            )
        elif way == "helper":
            name = rng.choice(("to_device", "move_batch", "send_to_gpu"))
            moved = "{key: value.to(device) for key, value in batch.items()}"
            dropped = rng.choice(keys)
            self.defs += "\n\n\n" + _HELPER.format(
                name=name, kind=moved, edit="unmove", operand="batch"
            ).replace(
                "  #: input",
                f'  #: input-not-moved|sub:value.to(device) for=>value if key == "{dropped}" '
                f"else value.to(device) for|{dropped}  #: input",
            )
            self.moves = (
                f"batch = {name}(batch, {target})  #: input-not-moved|delete|batch\n{named}"
            )
        else:
            places = [target] * (len(keys) - 1) + [last]
            self.moves = "\n".join(
                f"{key} = {self._key(key)}.to({place})  #: input-not-moved|unmove|{key}"
                for key, place in zip(keys, places, strict=True)
            )
