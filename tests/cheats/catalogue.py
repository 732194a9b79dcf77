"""All cheats, and those that are known not to be stopped."""

from . import files, objects, ours, shell

CHEATS = {cheat.id: cheat for module in (files, shell, objects, ours) for cheat in module.CHEATS}
LIMITS = {cheat.id: cheat for cheat in ours.LIMITS}
