"""Hardware CI for accelerator libraries, native to GitHub Actions."""
