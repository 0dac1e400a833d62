-- Requests that wrk sends: wrk ... URL -- ROW SEED ROBOTS
--
-- Reads are formatted before the run, and a write is joined from three strings, so that wrk takes
-- little of the processors. Names of new robots depend on row and seed, so that two runs over the
-- same store must not have both in common.

local POOL = 50000
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

-- Paths of random reads, if robot-000000 and so on have the ids from 1.
local paths = {
  get = function(robots) return "/api/robots/" .. math.random(robots) end,
  list = function(robots)
    return ("/api/robots?limit=1000&after=robot-%06d"):format(math.random(robots - 1000) - 1)
  end,
  -- Ten names contain such a text.
  search = function(robots)
    return ("/api/robots/search/-%05d"):format(math.random(0, robots / 10 - 1))
  end,
}
paths.mix = paths.get

local function reader(path, robots)
  local pool, position = {}, 0
  for i = 1, POOL do pool[i] = wrk.format("GET", path(robots)) end
  return function()
    position = position % POOL + 1
    return pool[position]
  end
end

local function writer(row, seed)
  local body = '{"name":"new-%s-%d-%d-#########","type":"droid","year":1977}'
  local whole = wrk.format("POST", "/api/robots", {}, body:format(row, seed, number))
  local head, tail = whole:match("^(.-)#########(.*)$")
  local count = 0
  return function()
    count = count + 1
    -- Unsorted, but different: the factor and 10^8 have no common divisor.
    return head .. (100000000 + count * 61803399 % 100000000) .. tail
  end
end

function init(args)
  local row, seed, robots = args[1], tonumber(args[2]), tonumber(args[3])
  math.randomseed(seed * 100 + number)
  local read, write = paths[row] and reader(paths[row], robots), writer(row, seed)
  local count = 0
  local function mixed()
    count = count + 1
    return count % 20 == 0 and write() or read()
  end
  request = row == "mix" and mixed or read or write
end

-- Prints the line that wrk.rs parses. Times are in microseconds.
function done(summary, latency)
  local e = summary.errors
  local failed = e.status + e.connect + e.read + e.write + e.timeout
  local median, p99 = latency:percentile(50), latency:percentile(99)
  print("figures", summary.requests, summary.duration, median, p99, failed)
end
