"""The rod models: each is a block class behind `protocol.py` and a record in `registry.py`."""
