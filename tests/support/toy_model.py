"""A rod model of somebody else: the elastic block with twice the weight, and one record."""

from __future__ import annotations

from dataclasses import replace

from tendril.core.describe.model import model_record
from tendril.core.models.registry import block_class

Elastic = block_class(model_record("der"))


class ToyBlock(Elastic):  # type: ignore[misc, valid-type]
    def weight(self, gravity, out, share=1.0):
        super().weight(2.0 * gravity, out, share)


TOY = replace(
    model_record("der"),
    name="toy",
    label="Toy Rod",
    description="Rod that falls twice as fast",
    block=ToyBlock,
    menu_number=None,
)
