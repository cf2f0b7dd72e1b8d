"""Where the original has `DecoyVsftpd`."""

from garrison.cyborg.blue_actions import DecoyVsftpd as DecoyVsftpd
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
