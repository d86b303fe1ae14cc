"""Runs in an environment with the real SkyPilot: its own client asks the policy of its configuration.

Reads tasks as JSON lines `{"request": …, "task": …}` and prints what came of each: the tasks as SkyPilot reads them back, or what it shows.
"""

import json
import sys

import sky
from sky import exceptions
from sky.server.requests import request_names
from sky.utils import admin_policy_utils

for line in sys.stdin:
    asked = json.loads(line)
    name = request_names.AdminPolicyRequestName(asked["request"])
    task = sky.Task.from_yaml_config(asked["task"])
    try:
        dag, _ = admin_policy_utils.apply(task, name)
        answer = {"task": dag.tasks[0].to_yaml_config()}
    except exceptions.UserRequestRejectedByPolicy as shown:
        answer = {"error": type(shown).__name__, "words": str(shown)}
    print("ANSWER " + json.dumps(answer), flush=True)
