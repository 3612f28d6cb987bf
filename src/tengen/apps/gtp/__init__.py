"""An engine for controllers that speak the Go Text Protocol: `tengen gtp GAME AGENT`."""
