/**
 * The rolling minute of keys as a script that Redis and Valkey carry out, each call as a whole and
 * by their own clock. It means what the windows of a process mean (`http/rate-window`): a request
 * counts until 60 s after it was admitted, to the microsecond up to 100,000 requests a minute, to
 * the millisecond above.
 *
 * A window is a list of "time sum": each entry has the microsecond of an admission and how many
 * were admitted up to it, so that the difference between the last entry and the first one, which
 * no longer counts itself, is what counts now. Beside it is a hash of what processes admitted while
 * they had no answer, in steps of a quarter of a second, each under its younger end.
 *
 * KEYS  the name of this memory, then for each key its list and its hash
 * ARGV  1 the name that is known, or empty
 *       2 a name for a memory that has none
 *       3 microseconds now; empty for the clock
 *       4 window in microseconds
 *       5 "take" or "settle"
 *       then for each key: "take" the limit and how many are asked for; "settle" how many pairs
 *       follow, and pairs of an age in milliseconds and a count
 *
 * The answer is the name, and for "take" of each key how many were admitted and are left. Where
 * another name is known than the one there is, nothing is done and the name alone is answered.
 */
import { EXACT_MAX } from '../http/rate-window.js';

/** Steps of the hash, in microseconds. */
const STEP = 250_000;
/** A clock that went back by more than this has all of a window count from now on. */
const BACK = 1_000_000;
/** Entries looked at one by one before the rest is halved. */
const LOOKED_AT = 16;

export const WINDOW_SCRIPT = `
local memory = redis.call('GET', KEYS[1])
if not memory then
  memory = ARGV[2]
  redis.call('SET', KEYS[1], memory)
end
if ARGV[1] ~= '' and ARGV[1] ~= memory then return {memory} end

local clock = tonumber(ARGV[3])
if not clock then
  local time = redis.call('TIME')
  clock = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local window = tonumber(ARGV[4])
local keptMs = math.ceil(window / 1000) + 1000
local answer = {memory}
local at = 6

local function entry(key, index)
  local text = redis.call('LINDEX', key, index)
  if not text then return nil end
  local gap = string.find(text, ' ', 1, true)
  return tonumber(string.sub(text, 1, gap - 1)), tonumber(string.sub(text, gap + 1))
end

local function text(time, sum)
  return string.format('%.0f %.0f', time, sum)
end

local function forget(key, edge)
  local _, base = entry(key, 0)
  for _ = 1, ${LOOKED_AT} do
    local time, sum = entry(key, 1)
    if time > edge then return base end
    redis.call('LPOP', key)
    base = sum
  end
  local low, high = 0, redis.call('LLEN', key) - 1
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    local time, sum = entry(key, middle)
    if time <= edge then low, base = middle, sum else high = middle end
  end
  redis.call('LTRIM', key, low, -1)
  return base
end

local function owed(key, edge)
  local steps = redis.call('HGETALL', key)
  local sum = 0
  for index = 1, #steps, 2 do
    if tonumber(steps[index]) * ${STEP} > edge then sum = sum + tonumber(steps[index + 1]) end
  end
  return sum
end

local function take(list, hash, limit, count)
  local exact = limit <= ${EXACT_MAX}
  local now = clock
  local last, sum = entry(list, -1)
  if last and last > now then
    if last - now > ${BACK} then
      local _, base = entry(list, 0)
      redis.call('DEL', list)
      redis.call('RPUSH', list, text(0, 0), text(now, sum - base))
      last, sum = now, sum - base
    else
      now = last
    end
  end
  local edge = now - window
  if not exact then edge = math.floor(now / 1000) * 1000 - window + 999 end
  local base = 0
  if last and last <= edge then
    redis.call('DEL', list)
    last, sum = nil, 0
  elseif last then
    base = forget(list, edge)
  else
    sum = 0
  end
  local used = sum - base + owed(hash, edge)
  local admitted = math.max(0, math.min(count, limit - used))
  if admitted > 0 then
    local time = now
    if not exact then time = math.floor(now / 1000) * 1000 end
    if not last then
      redis.call('RPUSH', list, text(0, 0), text(time, admitted))
    elseif time <= last then
      redis.call('LSET', list, -1, text(last, sum + admitted))
    else
      redis.call('RPUSH', list, text(time, sum + admitted))
    end
    redis.call('PEXPIRE', list, keptMs)
  end
  answer[#answer + 1] = admitted
  answer[#answer + 1] = math.max(0, limit - used - admitted)
end

local function settle(hash)
  local pairs = tonumber(ARGV[at])
  at = at + 1
  local old = redis.call('HKEYS', hash)
  for index = 1, #old do
    if tonumber(old[index]) * ${STEP} <= clock - window then
      redis.call('HDEL', hash, old[index])
    end
  end
  for _ = 1, pairs do
    local time = clock - tonumber(ARGV[at]) * 1000
    local count = tonumber(ARGV[at + 1])
    at = at + 2
    if time > clock - window then
      redis.call('HINCRBY', hash, string.format('%.0f', math.ceil(time / ${STEP})), count)
    end
  end
  redis.call('PEXPIRE', hash, keptMs)
end

for index = 2, #KEYS, 2 do
  if ARGV[5] == 'settle' then
    settle(KEYS[index + 1])
  else
    take(KEYS[index], KEYS[index + 1], tonumber(ARGV[at]), tonumber(ARGV[at + 1]))
    at = at + 2
  end
end
return answer
`;
