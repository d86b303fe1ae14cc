-- job_submit.lua of Runrate (JobSubmitPlugins=lua; this file beside slurm.conf): docs/guides/slurm.md
--
-- Holds a job with GPUs against the budgets and quotas of whose it is, and sets the partition of a quote.
-- It runs inside slurmctld under its lock: it reads one small local file that `runrate-agent slurm-cache`
-- keeps, and asks nobody. Whatever is wrong with the file, the job passes, and the log says why.
-- Plain Lua 5.1 to 5.4, no libraries: Debian's Slurm has 5.1.

local CACHE = os.getenv("RUNRATE_SLURM_CACHE") or "/var/cache/runrate-slurm/placement"
local MOST_BYTES = 262144 -- as much as the agent writes
local CLOCK_SLACK = 300 -- seconds that a file may be from the future
local PASSED_SECONDS = 5
local FORMAT = "runrate-slurm-cache\t1"
local ALLOW, WARN, DENY = 0, 1, 2
local VERDICTS = { [0] = "allow", "warn", "deny" }
local kept = { text = nil, cache = nil } -- what was parsed last: a file changes once a minute

local function fields_of(line)
  local fields, from = {}, 1
  while true do
    local tab = string.find(line, "\t", from, true)
    if not tab then
      fields[#fields + 1] = string.sub(line, from)
      return fields
    end
    fields[#fields + 1] = string.sub(line, from, tab - 1)
    from = tab + 1
  end
end

-- An empty field is not known: nil, where tonumber("") would be too.
local function put_of(kind, cache, f)
  if kind == "made_at" or kind == "valid_until" then
    cache[kind] = tonumber(f[2])
  elseif kind == "currency" or kind == "digest" then
    cache[kind] = f[2]
  elseif kind == "pool" then
    cache.pools[f[2]] = {
      name = f[2], option = f[3], gpu_type = f[4], paid = tonumber(f[5]), idle = tonumber(f[7]) or 0,
      quotas = {}, partitions = {},
    }
  elseif kind == "quota" then
    local quotas = cache.pools[f[2]].quotas
    quotas[#quotas + 1] = { is_hard = f[3] == "hard", left = tonumber(f[4]), name = f[5] }
  elseif kind == "partition" then
    local pool = cache.pools[f[3]]
    pool.partitions[#pool.partitions + 1] = f[2]
    cache.partitions[f[2]] = cache.partitions[f[2]] or {}
    table.insert(cache.partitions[f[2]], pool)
  elseif kind == "limit" then
    cache.limits[f[2]] = {
      is_hard = f[3] == "hard", unit = f[4], left_now = tonumber(f[5]), left_expected = tonumber(f[6]),
      name = f[7],
    }
  elseif kind == "owner" then
    local limits = {}
    for id in string.gmatch(f[8], "[^,]+") do limits[#limits + 1] = id end
    cache.owners[#cache.owners + 1] = {
      account = f[2], partition = f[3], user = f[4], name = f[5], is_hidden = f[6] == "hidden", team = f[7],
      limits = limits,
    }
  elseif kind == "quote" then
    cache.quotes[f[2]] = {
      id = f[2], pool = f[3], is_best = f[4] == "best", team = f[5], gpus = tonumber(f[6]), charged = tonumber(f[7]),
    }
  elseif kind == "override" then
    cache.overrides[f[2]] = {
      id = f[2], team = f[3], gpus = tonumber(f[4]) or 0, gpu_hours = tonumber(f[5]), by = f[6],
    }
  end
end

-- The file's content as tables; nil and why where it is not whole or not ours.
local function parsed(text)
  local cache = {
    pools = {}, partitions = {}, limits = {}, owners = {}, quotes = {}, overrides = {},
  }
  local count, is_whole = 0, false
  for line in string.gmatch(text, "([^\n]*)\n") do
    if is_whole then return nil, "goes on after its end" end
    local fields = fields_of(line)
    if count == 0 and line ~= FORMAT then return nil, "is of another form than this script reads" end
    if fields[1] == "end" then
      if tonumber(fields[2]) ~= count then return nil, "has lost lines" end
      is_whole = true
    else
      count = count + 1
      local fine, why = pcall(put_of, fields[1], cache, fields)
      if not fine then return nil, "has a broken line " .. count .. ": " .. tostring(why) end
    end
  end
  if not is_whole then return nil, "was cut off" end
  if not (cache.made_at and cache.valid_until) then return nil, "does not say from when it is" end
  return cache
end

-- What to decide by; nil and why where there is nothing.
local function cache_now(now)
  local file, why = io.open(CACHE, "r")
  if not file then return nil, "cannot be read: " .. tostring(why) end
  local text = file:read(MOST_BYTES + 1)
  file:close()
  if not text or text == "" then return nil, "is empty" end
  if #text > MOST_BYTES then return nil, "is larger than " .. MOST_BYTES .. " bytes" end
  if text ~= kept.text then
    local cache, fault = parsed(text)
    kept.text, kept.cache, kept.fault = text, cache, fault
  end
  if not kept.cache then return nil, kept.fault end
  if now > kept.cache.valid_until then
    return nil, "is " .. math.floor((now - kept.cache.made_at) / 60) .. " minutes old"
  end
  if kept.cache.made_at > now + CLOCK_SLACK then return nil, "is from the future: was the clock set?" end
  return kept.cache
end

local function is_said(value)
  return value ~= nil and value ~= slurm.NO_VAL and value ~= slurm.NO_VAL16 and value ~= slurm.INFINITE
end

-- GPUs in `gres:gpu:h100:2,gres:gpu:1` and their type; nil where a part of a GPU is asked for.
local function gpus_in(text)
  local count, gpu_type = 0, nil
  for part in string.gmatch(text or "", "[^,]+") do
    local name = string.gsub(part, "^gres[:/]", "")
    local rest = string.match(name, "^gpu(.*)$")
    if rest then
      local number = string.match(rest, "[:=](%d+)$")
      local named = string.match(rest, "^:([^:=%d][^:=]*)") or string.match(rest, "^:(%d+[^%d:=][^:=]*)")
      if named and string.find(named, "%dg%.%d+gb") then return nil end
      count = count + (tonumber(number) or 1)
      gpu_type = gpu_type or (named and string.lower(named))
    elseif string.find(name, "^shard") or string.find(name, "^mps") then
      return nil
    end
  end
  return count, gpu_type
end

-- GPUs that the job takes at least, and their type; nil where that is not known.
local function gpus_of(job)
  local nodes = is_said(job.min_nodes) and math.max(job.min_nodes, 1) or 1
  local tasks = is_said(job.num_tasks) and job.num_tasks or nil
  if not tasks then
    tasks = is_said(job.ntasks_per_node) and job.ntasks_per_node > 0 and job.ntasks_per_node * nodes or 1
  end
  local most, gpu_type = 0, nil
  local asked = {
    { job.tres_per_job, 1 }, { job.tres_per_node or job.gres, nodes }, { job.tres_per_task, tasks },
  }
  for _, each in pairs(asked) do
    if each[1] then
      local count, named = gpus_in(each[1])
      if not count then return nil end
      most = math.max(most, count * each[2])
      gpu_type = gpu_type or named
    end
  end
  if job.tres_per_socket and gpus_in(job.tres_per_socket) ~= 0 then return nil end
  if most == 0 and is_said(job.ntasks_per_gpu) and job.ntasks_per_gpu > 0 and is_said(job.num_tasks) then
    most = math.ceil(job.num_tasks / job.ntasks_per_gpu)
  end
  return most, gpu_type
end

-- Tasks of `0-9:2,12%4`; 1 of a job that is no array.
local function tasks_of(array)
  if not array or array == "" then return 1 end
  local count = 0
  for part in string.gmatch(string.gsub(array, "%%.*$", ""), "[^,]+") do
    local first, last, step = string.match(part, "^(%d+)%-(%d+):?(%d*)$")
    if first then
      count = count + math.floor((last - first) / math.max(tonumber(step) or 1, 1)) + 1
    else
      count = count + 1
    end
  end
  return math.max(count, 1)
end

local function partitions_of(job, part_list)
  local names = {}
  for name in string.gmatch(job.partition or "", "[^,]+") do names[#names + 1] = name end
  if #names == 0 then
    for name, part in pairs(part_list) do
      if part.flag_default == 1 or part.flag_default == true then names[1] = name end
    end
  end
  return names
end

-- Hours that it may take: its limit, else the partition's default, else its longest; nil without any.
local function hours_of(job, names, part_list)
  if is_said(job.time_limit) then return job.time_limit / 60 end
  local most = 0
  for _, name in pairs(names) do
    local part = part_list[name]
    local minutes = part and (is_said(part.default_time) and part.default_time or part.max_time)
    if not is_said(minutes) then return nil end
    most = math.max(most, minutes)
  end
  return most > 0 and most / 60 or nil
end

-- Pools in these partitions whose GPUs are of the type, where one is asked for.
local function pools_of(cache, names, gpu_type)
  local found = {}
  for _, name in pairs(names) do
    for _, pool in pairs(cache.partitions[name] or {}) do
      if not gpu_type or pool.gpu_type == "" or string.find(gpu_type, pool.gpu_type, 1, true) then
        found[#found + 1] = pool
      end
    end
  end
  return found
end

-- The least and most that a GPU-hour of these pools is charged; nil where one's is not known.
local function rates_of(pools)
  local low, high = nil, nil
  for _, pool in pairs(pools) do
    if not pool.paid then return nil, nil end
    low, high = math.min(low or pool.paid, pool.paid), math.max(high or pool.paid, pool.paid)
  end
  return low, high
end

-- `asr-*` as a pattern of Lua's.
local function is_named(name, glob)
  local pattern = string.gsub(glob, "[%^%$%(%)%%%.%[%]%+%-]", "%%%0")
  pattern = string.gsub(string.gsub(pattern, "%*", ".*"), "%?", ".")
  return string.find(name, "^" .. pattern .. "$") ~= nil
end

-- Whose the job is by the first rule that matches, and whether that is sure: a rule before it may look at more.
local function owner_of(cache, job, names)
  local account = job.account or job.default_account or ""
  local partition, is_sure = #names == 1 and names[1] or nil, true
  for _, rule in pairs(cache.owners) do
    local by_partition = rule.partition == "" or rule.partition == partition
    local may_by_partition = by_partition or (partition == nil and rule.partition ~= "")
    local fits = (rule.account == "" or rule.account == account)
      and (rule.user == "" or rule.user == (job.user_name or ""))
      and (rule.name == "" or is_named(job.name or "", rule.name))
    if fits and by_partition and not rule.is_hidden then return rule, is_sure end
    if fits and may_by_partition then is_sure = false end
  end
  return { team = "", limits = {} }, false
end

local function amount_in(unit, value)
  return string.format("%.2f %s", value, unit)
end

-- What one limit says of a need: its verdict and a sentence.
local function budget_verdict(limit, low, high)
  local hard = limit.is_hard and DENY or WARN
  local left = limit.left_now
  if low == nil or left == nil then
    if left and left < 0 then return hard, limit.name .. ": it is exceeded already" end
    local what = low == nil and "what this job takes of it is not known" or "what is left of it is not known"
    return WARN, limit.name .. ": " .. what
  end
  local needed = "this job takes " .. amount_in(limit.unit, low)
  if low > left then
    return hard, string.format("%s: %s, %s is left", limit.name, needed, amount_in(limit.unit, math.max(left, 0)))
  end
  if high > left then
    return WARN, string.format(
      "%s: this job may take %s, %s is left", limit.name, amount_in(limit.unit, high), amount_in(limit.unit, left))
  end
  if limit.left_expected == nil then
    return WARN, limit.name .. ": what is expected of the rest of its period is not known"
  end
  if high > limit.left_expected then
    return WARN, limit.name .. ": there is room now, but not as the rest of its period is expected"
  end
  return ALLOW, nil
end

local function quota_verdict(pool, quota, gpus)
  local more = math.max(gpus - pool.idle, 0)
  if more == 0 or not quota.left or more <= quota.left then return ALLOW, nil end
  return quota.is_hard and DENY or WARN, string.format(
    "quota %s: %d more GPUs are needed, %d may be started now", quota.name, more, quota.left)
end

-- The need held against every limit: the worst verdict, and the sentences of what is not allowed.
local function judged(cache, owner, need)
  local worst, reasons = ALLOW, {}
  local function take(verdict, sentence)
    worst = math.max(worst, verdict)
    if sentence then reasons[#reasons + 1] = sentence end
  end
  for _, id in pairs(owner.limits) do
    local limit = cache.limits[id]
    if limit and limit.unit == "GPU-hours" then
      take(budget_verdict(limit, need.gpu_hours, need.gpu_hours))
    elseif limit then
      take(budget_verdict(limit, need.low, need.high))
    end
  end
  if #need.pools == 1 and need.gpus then
    for _, quota in pairs(need.pools[1].quotas) do take(quota_verdict(need.pools[1], quota, need.gpus)) end
  end
  return worst, reasons
end

local function need_of(cache, job, part_list)
  local names = partitions_of(job, part_list)
  local gpus, gpu_type = gpus_of(job)
  local hours = hours_of(job, names, part_list)
  local need = { gpus = gpus, names = names, tasks = tasks_of(job.array_inx) }
  need.pools = pools_of(cache, names, gpu_type)
  if gpus and hours then
    need.hours, need.gpu_hours = hours, gpus * hours * need.tasks
    local low, high = rates_of(need.pools)
    if low then need.low, need.high = low * need.gpu_hours, high * need.gpu_hours end
  end
  return need
end

local function tell(text)
  slurm.log_user("%s", "Runrate: " .. text)
end

-- Sets the partition that the quote in the job's comment is of; its id where it did.
local function placed_by_quote(cache, job, part_list)
  local id = string.match(job.comment or "", "runrate:quote=(%d+)")
  if not id then return nil end
  local quote = cache.quotes[id]
  if not quote then
    tell("quote " .. id .. " is not in this cluster's file: it is not in it yet, has no offer here, was taken, is older than"
      .. " a week, or a thousand newer ones wait. It places nothing")
    return nil
  end
  for _, name in pairs(cache.pools[quote.pool].partitions) do
    if part_list[name] then
      local owner, is_sure = owner_of(cache, job, { name })
      if quote.team ~= "" and quote.team ~= owner.team and is_sure then
        tell("quote " .. id .. " was asked for another team: it places nothing")
        return nil
      end
      job.partition = name
      local cost = quote.charged and ", about " .. amount_in(cache.currency, quote.charged) or ""
      local best = quote.is_best and "" or "; its best offer is not in this cluster"
      tell("quote " .. id .. ": partition " .. name .. cost .. best)
      return id
    end
  end
  tell("quote " .. id .. " is of " .. quote.pool .. ", of which you may use no partition: it places nothing")
  return nil
end

local passed_until = {} -- of admissions, by id

-- Whether another job that the controller knows passed by this admission.
local function is_used(id, now)
  -- The controller's list of jobs is a second old: two submissions within one must not both pass.
  if now < (passed_until[id] or 0) then return true end
  for _, other in pairs(slurm.jobs or {}) do
    if string.find((other.admin_comment or "") .. ",", ",admission=" .. id .. ",", 1, true) then return true end
  end
  return false
end

-- The overridden admission in the job's comment by which it passes; nil, and why it does not.
local function override_of(cache, job, owner, need)
  local id = string.match(job.comment or "", "runrate:admission=(%d+)")
  if not id then return nil, nil end
  local override = cache.overrides[id]
  if not override then return nil, "admission " .. id .. " was not overridden, was used, or is older than a week" end
  if override.team ~= owner.team then return nil, "admission " .. id .. " is another team's" end
  if not need.gpus or need.gpus > override.gpus then
    return nil, "admission " .. id .. " is of " .. override.gpus .. " GPUs"
  end
  if override.gpu_hours and (not need.gpu_hours or need.gpu_hours > override.gpu_hours + 0.01) then
    return nil, string.format("admission %s is of %.2f GPU-hours", id, override.gpu_hours)
  end
  local now = os.time()
  if is_used(id, now) then return nil, "another job passed by admission " .. id end
  passed_until[id] = now + PASSED_SECONDS
  return override, nil
end

-- For programs: what was estimated and decided; without blanks, before what an operator wrote.
local function admin_comment_of(cache, job, need, verdict, quote, override)
  local parts = { "runrate:verdict=" .. VERDICTS[verdict] }
  local function say(name, value) parts[#parts + 1] = name .. "=" .. value end
  say("gpus", need.gpus or "unknown")
  if need.tasks > 1 then say("tasks", need.tasks) end
  if need.gpus ~= 0 then
    say("gpu_hours", need.gpu_hours and string.format("%.4f", need.gpu_hours) or "unknown")
    local cost = need.low and string.format("%.4f", need.low) or "unknown"
    if need.low and need.high > need.low then cost = cost .. ".." .. string.format("%.4f", need.high) end
    say("cost", cost)
    say("currency", cache.currency)
  end
  if quote then say("quote", quote) end
  if override then say("admission", override.id) end
  say("made_at", string.format("%d", cache.made_at))
  local theirs = job.admin_comment
  return table.concat(parts, ",") .. (theirs and theirs ~= "" and " " .. theirs or "")
end

local function warn_of_spot(job, need)
  for _, pool in pairs(need.pools) do
    if pool.option == "spot" and job.requeue == 0 then
      tell(pool.name .. " is on spot: its nodes may be taken away, and with --no-requeue the job ends with them")
      return
    end
  end
end

local function decided(job, part_list)
  local cache, why = cache_now(os.time())
  if not cache then
    slurm.log_error("%s", "runrate: jobs pass unchecked: " .. CACHE .. " " .. why)
    return slurm.SUCCESS
  end
  local quote = placed_by_quote(cache, job, part_list)
  local need = need_of(cache, job, part_list)
  local owner, is_sure = owner_of(cache, job, need.names)
  local verdict, reasons, override = ALLOW, {}, nil
  if need.gpus ~= 0 then
    verdict, reasons = judged(cache, owner, need)
    if verdict == DENY and not is_sure then
      verdict = WARN
      reasons[#reasons + 1] = "whose the job is cannot be seen here for sure, so it is not refused"
    end
    warn_of_spot(job, need)
  end
  local refused
  if verdict == DENY then
    override, refused = override_of(cache, job, owner, need)
    if override then verdict = WARN end
  end
  for _, reason in pairs(reasons) do tell(reason) end
  if override then tell("it passes by admission " .. override.id .. ", overridden by " .. override.by) end
  if verdict == DENY then
    tell((refused and refused .. ". " or "") .. "The job is refused. Ask for less (--time, GPUs), or have an admission"
      .. " overridden and submit with --comment=runrate:admission=ID")
    slurm.log_info("%s", "runrate: refused a job of " .. (job.user_name or "?") .. ": " .. table.concat(reasons, "; "))
    return slurm.ERROR
  end
  job.admin_comment = admin_comment_of(cache, job, need, verdict, quote, override)
  return slurm.SUCCESS
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  local fine, result = pcall(decided, job_desc, part_list)
  if fine then return result end
  slurm.log_error("%s", "runrate: a job passes unchecked: " .. tostring(result))
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
