"""Conditions over answers: as data, read from XLSForm, and evaluated."""
