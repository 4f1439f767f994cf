"""Table of hooks and caps, shared by the nodes of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.hooks.hook import Hook


@dataclass(slots=True)
class HookTable:
    """Hooks and caps of some nodes. Only adding a hook replaces the tuple, so another thread may iterate over it."""

    hooks: tuple[Hook, ...] = ()
    caps: dict[int, int] = field(default_factory=dict)
    """API key to the last version offered to clients."""
    last_held: int = 0

    def active_hooks(self) -> tuple[Hook, ...]:
        """Return the hooks that may still take requests."""
        return tuple(hook for hook in self.hooks if not hook.is_over)

    def has_hook_for(self, api_key: int) -> bool:
        """Return whether a hook may take a request of this API."""
        return any(
            (hook.criteria.request is None or api_key == hook.criteria.request.API_KEY) and not hook.is_over
            for hook in self.hooks
        )
