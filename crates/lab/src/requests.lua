-- For wrk: sends the requests of the file in REQUESTS, one "METHOD path body" a line, in turn. The key is in KEY, or
-- before the method: "[key] METHOD path body". With AGAIN=1 it begins again at the end; without, it stops there, and the
-- time that counts ends there too. Prints one line of JSON.
local ffi = require("ffi")
ffi.cdef [[
  typedef struct { long s; long ns; } moment;
  int clock_gettime(int, moment *);
  int getpid(void);
  int kill(int, int);
]]
local moment = ffi.new("moment")
local function now()
  ffi.C.clock_gettime(1, moment)
  return tonumber(moment.s) + tonumber(moment.ns) / 1e9
end

local requests, at, last = {}, 0, nil
begun, ended = 0, 0

function setup(thread) last = thread end

function init()
  for line in io.lines(os.getenv("REQUESTS")) do
    local key, rest = line:match("^%[(%S*)%] (.*)$")
    local method, path, body = (rest or line):match("^(%S+) (%S+) (.*)$")
    local headers = { ["Content-Type"] = "application/json", [os.getenv("KEY_HEADER")] = key or os.getenv("KEY") }
    requests[#requests + 1] = wrk.format(method, path, headers, body)
  end
end

function request()
  if at == 0 then begun = now() end
  if at == #requests then
    if os.getenv("AGAIN") == "1" then at = 0 else
      if ended == 0 then
        ended = now()
        -- Stopping the thread would leave wrk asleep until its time is over; an interrupt (SIGINT) wakes it.
        ffi.C.kill(ffi.C.getpid(), 2)
      end
      return requests[at]
    end
  end
  at = at + 1
  return requests[at]
end

function done(summary, latency)
  local errors, seconds = summary.errors, summary.duration / 1e6
  if last:get("ended") > 0 then seconds = math.min(seconds, last:get("ended") - last:get("begun")) end
  local ms = function(percent) return latency:percentile(percent) / 1e3 end
  io.write(string.format(
    '{"requests":%d,"seconds":%.4f,"p50_ms":%.3f,"p99_ms":%.3f,"p999_ms":%.3f,"errors":%d}\n',
    summary.requests, seconds, ms(50), ms(99), ms(99.9),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
