"""Compilation of kernels, where compiled code is cached, and the threads that run it."""
