"""Runs in an environment with the real SkyPilot: its own optimizer chooses by the catalogs of its home.

What is simulated: that the clouds are enabled is written into SkyPilot's state, as `sky check` would after asking them.
"""

import json
import sys

import sky
from sky import check, exceptions, global_user_state
from sky.clouds import cloud
from sky.optimizer import Optimizer

names = check._get_workspace_allowed_clouds("default")
global_user_state.set_allowed_clouds(names, "default")
global_user_state.set_enabled_clouds(["AWS"], cloud.CloudCapability.COMPUTE, "default")

for line in sys.stdin:
    asked = json.loads(line)
    with sky.Dag() as dag:
        task = sky.Task.from_yaml_config(asked["task"])
    dag.add(task)
    try:
        Optimizer.optimize(dag, quiet=True)
        best = task.best_resources
        answer = {
            "infra": best.infra.to_str(),
            "machine": best.instance_type,
            "is_spot": best.use_spot,
            "dollars_an_hour": best.get_cost(3600),
        }
    except exceptions.ResourcesUnavailableError as shown:
        answer = {"error": str(shown)}
    print("ANSWER " + json.dumps(answer), flush=True)
