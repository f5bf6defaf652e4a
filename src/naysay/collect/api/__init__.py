"""What programs read of surveys, with tokens: which there are, what came out, and exports."""

from naysay.collect.api.app import VERSION, api

__all__ = ["VERSION", "api"]
