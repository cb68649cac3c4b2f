-- The load of ./dev bench http, for wrk: arguments MEAN and COUNT. A connection pauses for MEAN
-- milliseconds on average before each request, at random; 0: it does not pause. With COUNT `count`
-- the answers are counted by their status, which costs wrk time.
local threads = {}

function setup(thread)
   thread:set("number", #threads)
   table.insert(threads, thread)
end

function init(args)
   local mean = tonumber(args[1])

   answers, refusals, bare, others = 0, 0, 0, 0
   math.randomseed(number + 1)
   if mean > 0 then
      delay = function() return math.floor(0.5 - mean * math.log(1 - math.random())) end
   end
   if args[2] == "count" then
      response = count_answer
   end
end

local function has_retry_after(headers)
   for name in pairs(headers) do
      if name:lower() == "retry-after" then
         return true
      end
   end
   return false
end

function count_answer(status, headers)
   if status == 200 then
      answers = answers + 1
   elseif status ~= 503 then
      others = others + 1
   elseif has_retry_after(headers) then
      refusals = refusals + 1
   else
      bare = bare + 1
   end
end

local function total(name)
   local sum = 0
   for _, thread in ipairs(threads) do
      sum = sum + thread:get(name)
   end
   return sum
end

function done(summary, latency)
   local errors = summary.errors
   io.write(string.format("FIGURES requests=%d us=%d broken=%d failed=%d", summary.requests,
      summary.duration, errors.connect + errors.read + errors.write + errors.timeout,
      errors.status))
   io.write(string.format(" answers=%d refusals=%d bare=%d others=%d", total("answers"),
      total("refusals"), total("bare"), total("others")))
   io.write(string.format(" p50=%d p90=%d p99=%d p999=%d max=%d\n", latency:percentile(50),
      latency:percentile(90), latency:percentile(99), latency:percentile(99.9), latency.max))
end
