"""Which hooks and caps are there? What the nodes of a cluster share."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.hooks.hook import Hook


@dataclass(slots=True)
class HookTable:
    """All hooks and caps of some nodes. Only whoever adds replaces the tuple, so that another thread may walk it."""

    hooks: tuple[Hook, ...] = ()
    caps: dict[int, int] = field(default_factory=dict)
    """API key to the last version that clients are offered."""
    last_held: int = 0

    def live(self) -> tuple[Hook, ...]:
        """Return the hooks that may still take something."""
        return tuple(hook for hook in self.hooks if not hook.is_over)

    def concerns(self, api_key: int) -> bool:
        """Return whether a hook may take a request of this API."""
        return any(
            (hook.criteria.request is None or api_key == hook.criteria.request.API_KEY) and not hook.is_over
            for hook in self.hooks
        )
