-- What wrk sends. Arguments behind the address: get ROWS | list | post
-- Prints one line of JSON at the end, which the harness reads.

local requests = {}
local turn = 0

function init(arguments)
  local kind, rows = arguments[1], tonumber(arguments[2] or "1")
  wrk.headers["ZUMO-API-VERSION"] = "2.0.0"
  if kind == "get" then
    -- Made before the clock starts: any of the rows, the same ones for both sides.
    math.randomseed(1)
    for i = 1, 1000 do
      local row = math.random(0, rows - 1)
      local scattered = row * 2654435761 % 4294967296
      local id = string.format("%08x-0000-4000-8000-%012d", scattered, row)
      requests[i] = wrk.format("GET", wrk.path .. "/" .. id)
    end
  elseif kind == "post" then
    wrk.headers["Content-Type"] = "application/json"
    local body = '{"text":"Todo, as long as they are","complete":false}'
    requests[1] = wrk.format("POST", wrk.path, nil, body)
  else
    requests[1] = wrk.format("GET", wrk.path)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %.6f, "p50": %.4f, "p99": %.4f, "failures": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, e.connect + e.read + e.write + e.status + e.timeout))
end
