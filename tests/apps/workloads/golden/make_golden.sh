#!/bin/bash
# Makes the golden sacct files beside it with a real Slurm: three slurmd, slurmdbd and a private
# MariaDB on this machine, as root, on loopback ports, stopped again at the end.
#
#   apt-get install --no-install-recommends slurm-wlm slurm-client munge slurmdbd mariadb-server
#   ./make_golden.sh [OUTPUT_FOLDER]        about four minutes; a requeued job waits two
#
# The GPUs are plain files: Slurm counts them and hands them out, nothing computes on them.
set -euo pipefail

OUT=$(cd "${1:-$(dirname "$0")}" && pwd)
ROOT=$(mktemp -d "${TMPDIR:-/tmp}/slurm-golden.XXXXXX")
PORT=${SLURM_GOLDEN_PORT:-27817}
HOST=$(hostname -s)
OTHER_UID=65534 # nobody: a second real user, so that one cancellation is not by root
export SLURM_CONF=$ROOT/etc/slurm.conf TZ=UTC
chmod 755 "$ROOT"
mkdir -p "$ROOT"/{etc,state,log,run,db,gpu,jobs}

DAEMONS=(slurmd.node01 slurmd.node02 slurmd.node03 slurmctld slurmdbd munged mariadbd)
stop_what_we_started() {
  local status=$? name pid
  # A step that outlives slurmctld keeps retrying for minutes, so jobs go first.
  timeout 10 scancel --user=root 2>/dev/null || true
  timeout 10 scancel --user=nobody 2>/dev/null || true
  for _ in $(seq 20); do [ -z "$(timeout 5 squeue -h -t running,completing 2>/dev/null)" ] && break; sleep 0.5; done
  for name in "${DAEMONS[@]}"; do
    pid=$(cat "$ROOT/run/$name.pid" 2>/dev/null) && kill "$pid" 2>/dev/null || true
    for _ in $(seq 20); do kill -0 "${pid:-0}" 2>/dev/null || break; sleep 0.25; done
  done
  if [ $status -eq 0 ]; then rm -rf "$ROOT"; else echo "failed; the logs are in $ROOT/log" >&2; fi
  exit $status
}
trap stop_what_we_started EXIT

until_true() { # SECONDS COMMAND...: wait for it, or fail saying what never came
  local limit=$(($(date +%s) + $1)); shift
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$limit" ] || { echo "never came true: $*" >&2; return 1; }
    sleep 0.5
  done
}

configure() {
  local node
  for node in 01 02; do touch "$ROOT"/gpu/node$node-{0,1,2,3}; done
  touch "$ROOT"/gpu/node03-{0,1}
  echo 'CgroupAutomount=no' > "$ROOT/etc/cgroup.conf"
  cat > "$ROOT/etc/gres.conf" <<CONF
AutoDetect=off
NodeName=node03 Name=gpu Type=a100 File=$ROOT/gpu/node03-[0-1]
NodeName=node03 Name=shard Count=8
CONF
  for node in node01 node02; do
    echo "NodeName=$node Name=gpu Type=h100 File=$ROOT/gpu/$node-[0-3]" >> "$ROOT/etc/gres.conf"
  done
  cat > "$SLURM_CONF" <<CONF
ClusterName=atlas
SlurmctldHost=$HOST(127.0.0.1)
SlurmctldPort=$PORT
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$ROOT/run/munge.sock
CredType=cred/munge
SlurmctldPidFile=$ROOT/run/slurmctld.pid
SlurmdPidFile=$ROOT/run/slurmd.%n.pid
SlurmctldLogFile=$ROOT/log/slurmctld.log
SlurmdLogFile=$ROOT/log/slurmd.%n.log
SlurmdSpoolDir=$ROOT/spool.%n
StateSaveLocation=$ROOT/state
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu,shard
ReturnToService=2
KillWait=2
MinJobAge=600
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,requeue_delay=1
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageTRES=gres/gpu,gres/gpu:h100,gres/gpu:a100,gres/shard
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((PORT + 10))
AccountingStoragePass=$ROOT/run/munge.sock
AccountingStoreFlags=job_comment
NodeName=node01 NodeHostname=$HOST NodeAddr=127.0.0.1 Port=$((PORT + 1)) CPUs=8 RealMemory=64000 Gres=gpu:h100:4
NodeName=node02 NodeHostname=$HOST NodeAddr=127.0.0.1 Port=$((PORT + 2)) CPUs=8 RealMemory=64000 Gres=gpu:h100:4
NodeName=node03 NodeHostname=$HOST NodeAddr=127.0.0.1 Port=$((PORT + 3)) CPUs=8 RealMemory=64000 Gres=gpu:a100:2,shard:8
PartitionName=gpu Nodes=node[01-03] Default=YES MaxTime=INFINITE State=UP
CONF
  cat > "$ROOT/etc/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$ROOT/run/munge.sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((PORT + 10))
SlurmUser=root
PidFile=$ROOT/run/slurmdbd.pid
LogFile=$ROOT/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((PORT + 11))
StorageUser=slurm
StoragePass=golden
StorageLoc=slurm_acct_db
CONF
  chmod 600 "$ROOT/etc/slurmdbd.conf"
}

start() {
  local sql="mariadb --no-defaults --socket=$ROOT/db/m.sock" node
  head -c 128 /dev/urandom > "$ROOT/etc/munge.key"
  chmod 400 "$ROOT/etc/munge.key"
  munged --force --key-file="$ROOT/etc/munge.key" --socket="$ROOT/run/munge.sock" \
    --pid-file="$ROOT/run/munged.pid" --log-file="$ROOT/log/munged.log" \
    --seed-file="$ROOT/run/munged.seed" 2> "$ROOT/log/munged.err"
  mariadb-install-db --no-defaults --user=root --datadir="$ROOT/db" --skip-test-db > "$ROOT/log/install-db.log" 2>&1
  mariadbd --no-defaults --user=root --datadir="$ROOT/db" --socket="$ROOT/db/m.sock" \
    --bind-address=127.0.0.1 --port=$((PORT + 11)) --pid-file="$ROOT/run/mariadbd.pid" \
    --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 > "$ROOT/log/mariadb.log" 2>&1 &
  until_true 60 $sql -e 'select 1'
  $sql -e "create database slurm_acct_db;
           create user slurm@'127.0.0.1' identified by 'golden'; grant all on slurm_acct_db.* to slurm@'127.0.0.1';
           create user slurm@localhost identified by 'golden'; grant all on slurm_acct_db.* to slurm@localhost"
  slurmdbd
  until_true 60 sacctmgr -n show cluster
  sacctmgr -i add cluster atlas > /dev/null
  sacctmgr -i add account research,serving > /dev/null
  sacctmgr -i add user root account=research > /dev/null
  sacctmgr -i add user root account=serving > /dev/null
  sacctmgr -i add user nobody account=research > /dev/null
  slurmctld
  until_true 30 sh -c 'scontrol ping | grep -q " UP"'
  for node in node01 node02 node03; do slurmd -N $node; done
  until_true 60 sh -c '[ "$(timeout 5 sinfo -h -N -o %T | grep -c idle)" = 3 ]'
}

is() { [ "$(timeout 5 squeue -h -t all -j "$1" -o %T | head -1)" = "$2" ]; } # JOB STATE
state_is() { until_true 150 is "$1" "$2"; }
submit() { # the command to run comes last; prints the job id
  local command=${*: -1}
  sbatch --parsable --chdir="$ROOT/jobs" --output=/dev/null --mem=1000 "${@:1:$#-1}" --wrap "$command"
}

run_jobs() {
  local timeout_job plain array failed uneven suspended cancelled requeued waiting running never
  # 1. over its limit of one minute; first, because Slurm looks at limits only now and then
  timeout_job=$(submit -J overrun -A research --gres=gpu:h100:1 -t 1 'sleep 300')
  # 2. two typed GPUs, a name with the delimiter in it
  plain=$(submit -J 'llama|sft' -A research --gres=gpu:h100:2 -n 2 'sleep 8')
  # 3. array of two, one GPU each
  array=$(submit -J sweep -A research --gres=gpu:h100:1 --array=0-1 'sleep 6')
  # 4. exit code 3
  failed=$(submit -J crash -A serving --gres=gpu:a100:1 'sleep 2; exit 3')
  state_is "$timeout_job" RUNNING; state_is "$plain" COMPLETED
  until_true 60 sh -c "[ -z \"\$(squeue -h -j $array -t running,pending)\" ]"
  state_is "$failed" FAILED
  # 5. five GPUs over two nodes cannot be even; sacct gives only the total
  uneven=$(submit -J uneven -A research -N 2 --gpus=h100:5 --exclude=node03 'sleep 5'); state_is "$uneven" COMPLETED
  # 6. two types in one job
  submit -J mixed -A research -N 2 -n 2 -w node01,node03 --gpus=2 'sleep 4' > /dev/null
  # 7. heterogeneous: a GPU part and a CPU part
  printf '#!/bin/bash\n#SBATCH -J het -A serving --mem=1000 --gres=gpu:h100:2 -n 1\n#SBATCH hetjob\n#SBATCH -A serving --mem=1000 -n 4\nsleep 6\n' > "$ROOT/jobs/het.sh"
  sbatch --parsable --chdir="$ROOT/jobs" --output=/dev/null "$ROOT/jobs/het.sh" > /dev/null
  # 8. shares of a GPU
  submit -J shards -A serving --gres=shard:2 'sleep 4' > /dev/null
  # 9. three whole nodes at once
  sleep 12; submit -J wide -A research -N 3 --gpus-per-node=2 --ntasks-per-node=2 'sleep 4' > /dev/null; sleep 8
  # 10. suspended for a while; what it holds meanwhile is written down
  suspended=$(submit -J paused -A research --gres=gpu:h100:4 -w node02 'sleep 6'); state_is "$suspended" RUNNING
  sleep 2; scontrol suspend "$suspended"; sleep 2
  waiting=$(submit -J squeezed -A research --gres=gpu:h100:4 -w node02 'sleep 1'); sleep 6
  echo "while suspended: node02 has $(scontrol show node node02 -d | grep -o 'GresUsed=[^ ]*'), a job that wants its GPUs is $(squeue -h -j "$waiting" -o '%T (%r)')" >&2
  scontrol resume "$suspended"; state_is "$suspended" COMPLETED; state_is "$waiting" COMPLETED
  # 11. cancelled by another user than root, running
  cancelled=$(sbatch --uid=nobody --gid=nogroup --parsable --chdir="$ROOT/jobs" --output=/dev/null --mem=1000 -J stopped -A research --gres=gpu:h100:1 --wrap 'sleep 300')
  state_is "$cancelled" RUNNING; sleep 3
  setpriv --reuid=$OTHER_UID --regid=$OTHER_UID --clear-groups scancel "$cancelled"; state_is "$cancelled" CANCELLED
  # 12. sent back to the queue once, then finished
  requeued=$(submit -J again -A research --requeue --gres=gpu:h100:2 'sleep 7'); state_is "$requeued" RUNNING
  sleep 4; scontrol requeue "$requeued"; sleep 2; state_is "$requeued" COMPLETED
  # 13. no GPU at all
  submit -J prepare -A serving -n 3 'sleep 2' > /dev/null; sleep 6
  state_is "$timeout_job" TIMEOUT
  # 14. still running; behind it one job cancelled before it ran and a pending array
  running=$(submit -J serve -A serving --gres=gpu:h100:4 -w node02 'sleep 300'); state_is "$running" RUNNING
  never=$(submit -J never -A research --gres=gpu:h100:4 -w node02 'sleep 1'); sleep 3; scancel "$never"
  submit -J later -A research --array=4-6 --gres=gpu:h100:2 -w node02 'sleep 1' > /dev/null
  sleep 5
}

write_golden() {
  local version since=--starttime=now-1hour
  version=$(sacct --version | cut -d' ' -f2 | cut -d. -f1,2)
  sacct -a -D $since --parsable2 -o JobIDRaw,JobID,Cluster,Partition,QOS,Account,User,UID,Submit,Eligible,Start,End,Elapsed,ElapsedRaw,Suspended,State,ExitCode,NNodes,NCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,NodeList,JobName > "$OUT/sacct_debian_$version.psv"
  sacct -a -X $since --parsable2 --noheader -o JobID,JobIDRaw,Partition,Account,User,AllocCPUS,State,ExitCode,Submit,Start,End,AllocTRES,NodeList,JobName > "$OUT/sacct_debian_${version}_noheader.psv"
  wc -l "$OUT"/*.psv
}

configure
start
run_jobs
write_golden
