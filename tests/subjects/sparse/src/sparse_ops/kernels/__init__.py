"""Triton kernels, imported only once a caller asked for them on a CUDA device."""
