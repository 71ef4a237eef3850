"""Example scenes: .blend files, a demo, and the experiments of the papers."""
