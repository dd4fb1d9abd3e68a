/**
 * The rolling minutes of keys as a script that Redis and Valkey carry out. Each call is carried out
 * as a whole, with the server's clock. A window here means the same as in a process
 * (`http/rate-window`): a request counts until 60 s after it was admitted, to the microsecond up to
 * 100,000 requests a minute, to the millisecond above.
 *
 * A window is a list of "time sum": each entry has the microsecond of an admission and how many
 * were admitted up to it. The first entry itself no longer counts, so the difference between the
 * last sum and the first is the count of the window. Beside the list is a hash. It has what
 * processes admitted while they had no answer, in steps of a quarter of a second, each under its
 * later end; and the places that processes hold ahead, under "h" and the holder's name, as "count
 * ending".
 *
 * Held places count as admitted. The holder reports how many it has used, which are entered with
 * the time of the report: that is later than they were admitted, never earlier. Of the rest it
 * keeps some, and the others are free again. If it reports nothing until the ending, all count as
 * used.
 *
 * KEYS  the name of this memory, then for each key its list and its hash
 * ARGV  1 the name that the caller knows, or empty
 *       2 a name for a memory that has none
 *       3 microseconds now; empty for the server's clock
 *       4 window in microseconds
 *       5 "take" or "settle"
 *       6 the holder's name
 *       then for each key: for "take" the limit, how many places are asked for, and how many
 *       held ones are used, are kept, and are wanted with the kept ones; for "settle" the number
 *       of pairs that follow, and pairs of an age in milliseconds and a count
 *
 * The answer is the name and, for "take", for each key how many were admitted, are left and are
 * held. If the caller knows another name than the memory has, nothing is done, and only the name is
 * returned.
 */
import { EXACT_MAX } from '../http/rate-window.js';
import { HELD_OF_LEFT, HELD_OF_RATE } from './port.js';

/** The length of a step in the hash, in microseconds. */
const STEP = 250_000;
/** If the clock went back by more than this, all requests of a window count from now on. */
const BACK = 1_000_000;
/** A holder that reports nothing for so many microseconds counts as ended. */
const HOLD = 2_000_000;
/** How many entries are checked one by one before a binary search. */
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
local holder = 'h' .. ARGV[6]
local at = 7

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

local function beside(hash, edge)
  local fields = redis.call('HGETALL', hash)
  local owed, others, mine, over = 0, 0, nil, 0
  for index = 1, #fields, 2 do
    local name, value = fields[index], fields[index + 1]
    if string.byte(name) ~= 104 then
      if tonumber(name) * ${STEP} > edge then owed = owed + tonumber(value) end
    else
      local gap = string.find(value, ' ', 1, true)
      local count = tonumber(string.sub(value, 1, gap - 1))
      local ending = tonumber(string.sub(value, gap + 1))
      if name == holder then
        mine = count
      elseif ending > clock and ending <= clock + ${2 * HOLD} then
        others = others + count
      else
        over = over + count
        redis.call('HDEL', hash, name)
      end
    end
  end
  return owed, others, mine, over
end

local function hold(hash, mine, held)
  if held > 0 then
    redis.call('HSET', hash, holder, text(held, clock + ${HOLD}))
    redis.call('PEXPIRE', hash, keptMs)
  elseif mine then
    redis.call('HDEL', hash, holder)
  end
end

local function take(list, hash, limit, count, used, keep, want)
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
  local owed, others, mine, over = beside(hash, edge)
  local spent = math.min(used, mine or 0)
  local held = math.min(keep, (mine or 0) - spent)
  local before = sum - base + owed + over + spent + others + held
  local admitted = math.max(0, math.min(count, limit - before))
  local left = math.max(0, limit - before - admitted)
  if want > held then
    local more = math.min(want - held, math.floor(limit / ${HELD_OF_RATE}) - others - held,
      math.floor(left / ${HELD_OF_LEFT}))
    if more > 0 then held, left = held + more, left - more end
  end
  if mine or held > 0 then hold(hash, mine, held) end
  local entered = admitted + over + spent
  if entered > 0 then
    local time = now
    if not exact then time = math.floor(now / 1000) * 1000 end
    if not last then
      redis.call('RPUSH', list, text(0, 0), text(time, entered))
    elseif time <= last then
      redis.call('LSET', list, -1, text(last, sum + entered))
    else
      redis.call('RPUSH', list, text(time, sum + entered))
    end
    redis.call('PEXPIRE', list, keptMs)
  end
  answer[#answer + 1] = admitted
  answer[#answer + 1] = left
  answer[#answer + 1] = held
end

local function settle(hash)
  local pairs = tonumber(ARGV[at])
  at = at + 1
  local old = redis.call('HKEYS', hash)
  for index = 1, #old do
    local step = tonumber(old[index])
    if step and step * ${STEP} <= clock - window then
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
    take(KEYS[index], KEYS[index + 1], tonumber(ARGV[at]), tonumber(ARGV[at + 1]),
      tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]))
    at = at + 5
  end
end
return answer
`;
