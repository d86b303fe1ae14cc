"""A scenario of one day that fits on a screen."""

SMALL = """
seed = 7
days = 1

[clusters]
atlas = "slurm"
harbor = "kubernetes"

[gpu_models."NVIDIA L4"]
idle_watts = 13
peak_watts = 72
memory_gib = 24

[loads.steady]
worked_ratio = 0.5
noise_ratio = 0.1
sm_ratio = 0.4
tensor_ratio = 0.2
dram_ratio = 0.3
power_ratio = 0.8
memory_ratio = 0.25

[[pools]]
name = "plain"
cluster = "atlas"
provider = "aws"
region = "us-east-1"
instance_type = "g6.12xlarge"
purchase_option = "on_demand"
owner_team = "Platform"
gpu_model = "NVIDIA L4"
gpus_per_node = 2
cpus_per_node = 48

[[pools]]
name = "sliced"
cluster = "harbor"
provider = "aws"
region = "us-east-1"
instance_type = "g6.12xlarge"
purchase_option = "on_demand"
owner_team = "Platform"
gpu_model = "NVIDIA L4"
gpus_per_node = 1
cpus_per_node = 16
replicas = 4

[[nodes]]
name = "plain-01"
pool = "plain"
ended_hours = 10.5

[[nodes]]
name = "sliced-01"
pool = "sliced"

[[jobs]]
name = "train"
cluster = "atlas"
id = "100"
user = "ada"
account = "research"
partition = "l4"
labels = { project = "llm" }
run = "train-1"
load = "steady"
started_hours = 2
hours = 8.5
state = "NODE_FAIL"
exit_code = 1
on = { plain-01 = "0-1" }

[[jobs]]
name = "chat"
cluster = "harbor"
id = "chat"
user = "ben"
namespace = "assistant"
load = "steady"
started_hours = 0
on = { sliced-01 = "0" }

[[jobs]]
name = "rank"
cluster = "harbor"
id = "rank"
user = "ben"
namespace = "search"
load = "steady"
started_hours = 4
hours = 2
every_hours = 6
times = 3
pinned = false
on = { sliced-01 = "0" }
"""
