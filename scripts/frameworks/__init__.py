"""The installed frameworks, made to run: each recipe on a model small enough to check, and probes of what each one does."""
