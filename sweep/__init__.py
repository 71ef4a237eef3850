"""Parameter sweeps: many variants of one scene, each simulated by a task of its own.

`python -m tendril sweep` runs them on Dask, for scene files and .blend files; the Variants panel of the add-on runs them in
processes of Blender. docs/farm.md explains their use.
"""
