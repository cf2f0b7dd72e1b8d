# The public names, listed once: `__init__.py` loads them from here on first use.
from .callbacks import Callback as Callback
from .callbacks import CallbackFailed as CallbackFailed
from .callbacks import Evaluated as Evaluated
from .callbacks import Training as Training
from .experiment import Experiment as Experiment
from .experiment import RunConfig as RunConfig
from .experiment_file import differences as differences
from .experiment_file import load_experiment as load_experiment
from .presets import PRESETS as PRESETS
from .presets import default_preset as default_preset
from .presets import preset as preset
from .session import Outcome as Outcome
from .start import continue_run as continue_run
from .start import train as train
