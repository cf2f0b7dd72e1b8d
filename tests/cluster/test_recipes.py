"""The YAML files for clusters: they parse, and say only what their schemas know."""

from pathlib import Path
from typing import Any

import pytest
import ray
import yaml
from ray.autoscaler._private.util import prepare_config, validate_config

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "examples" / "cluster"


def test_the_launcher_takes_its_file() -> None:
    config = yaml.safe_load((RECIPES / "launcher.yaml").read_text())
    complete = prepare_config(config)  # what `ray up` does first
    validate_config(complete)
    assert complete["provider"]["worker_ips"] == ["10.0.0.2", "10.0.0.3"]


def test_the_launcher_would_refuse_another_field() -> None:
    config = yaml.safe_load((RECIPES / "launcher.yaml").read_text())
    with pytest.raises(Exception, match="workers_min"):
        validate_config({**prepare_config(config), "workers_min": 2})


def test_kuberay_has_only_fields_of_its_resource() -> None:
    resource = yaml.safe_load((RECIPES / "kuberay.yaml").read_text())
    assert (resource["apiVersion"], resource["kind"]) == ("ray.io/v1", "RayCluster")
    spec = resource["spec"]
    known = {"rayVersion", "enableInTreeAutoscaling", "authOptions", "headGroupSpec", "workerGroupSpecs"}
    assert spec.keys() <= known
    assert spec["authOptions"] == {"mode": "token"}
    assert spec["headGroupSpec"].keys() <= {"serviceType", "rayStartParams", "template"}
    for group in spec["workerGroupSpecs"]:
        assert group.keys() == {"groupName", "replicas", "minReplicas", "maxReplicas", "rayStartParams", "template"}
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    for pod in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        check_pod(pod)


def check_pod(group: dict[str, Any]) -> None:
    assert all(isinstance(value, str) for value in group["rayStartParams"].values())  # a map of strings
    (container,) = group["template"]["spec"]["containers"]
    assert container.keys() <= {"name", "image", "resources", "env"}
    assert container["resources"].keys() <= {"requests", "limits"}


def test_the_files_name_the_version_that_is_tested() -> None:
    for name in ("launcher.yaml", "kuberay.yaml"):
        assert ray.__version__ in (RECIPES / name).read_text()
    assert f"ray=={ray.__version__}" in (ROOT / "requirements" / "cluster.txt").read_text().splitlines()


def test_the_page_shows_the_files_as_they_are() -> None:
    page = (ROOT / "docs" / "cluster.md").read_text()
    for name in ("launcher.yaml", "kuberay.yaml"):
        assert (RECIPES / name).read_text().strip() in page
