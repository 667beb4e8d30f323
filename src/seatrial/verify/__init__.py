"""Replay of golden data."""
