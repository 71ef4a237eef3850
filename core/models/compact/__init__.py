"""Compact inextensible Cosserat rods (Zhao et al. 2022): a root position and one rotation per segment."""
