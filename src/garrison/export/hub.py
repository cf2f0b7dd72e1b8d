"""Uploading an exported agent to the Hugging Face hub, by the user's own token."""

from pathlib import Path

from garrison.errors import GarrisonError, UserError
from garrison.storage.schema import shown
from garrison.system import require


def check_hub(repository: str) -> None:
    """Raise a UserError if nothing can be uploaded there, before anything is exported."""
    require("huggingface_hub")
    from huggingface_hub import get_token

    if repository.count("/") != 1 or not all(repository.split("/")):
        raise UserError(f"a repository on the hub is USER/NAME; got {shown(repository)}.")
    if get_token() is None:
        raise UserError("nobody is logged in to the hub: run hf auth login, or set HF_TOKEN.")


def push_to_hub(repository: str, files: list[Path], private: bool = False) -> str:
    """Make the repository if there is none, and upload the files in one commit; return its address.

    The token is the one of `hf auth login` or of HF_TOKEN; HF_ENDPOINT names another hub.
    """
    check_hub(repository)
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub.errors import HFValidationError

    api = HfApi()
    operations = [CommitOperationAdd(path_in_repo=file.name, path_or_fileobj=str(file)) for file in files]
    try:
        address = api.create_repo(repository, private=private, exist_ok=True)
        api.create_commit(repository, operations, commit_message=f"Upload {files[0].name} with garrison export")
    except HFValidationError as error:
        raise UserError(f"the hub does not take the name {repository!r}: {error}") from None
    except Exception as error:  # of the network, of the hub or of its client, which has many kinds
        what = str(error).strip().splitlines()
        raise GarrisonError(
            f"the upload to {repository} failed ({type(error).__name__}: {what[0] if what else 'no answer'}).",
            hint=f"The files are in {files[0].parent}.",
        ) from error
    return str(address)
