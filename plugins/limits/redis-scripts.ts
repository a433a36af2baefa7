/**
 * Prefix of all keys on a shared server. The braces keep them in one slot of a cluster, where a script may use them
 * together.
 */
export const PREFIX = 'sluice:{limits}:'

/** Its value tells whether the server still has what was written. */
export const SENTINEL = `${PREFIX}sentinel`

/** Milliseconds for which unused money is kept: it can be seeded again. */
const KEPT = 259_200_000

/**
 * What all scripts begin with. The key is that of the sentinel. Arguments: the expected sentinel, the time in milliseconds (empty: that of the server),
 * and the call as JSON. Numbers are written as text with `%.0f`, because Lua prints large ones inexactly. The functions
 * do the same as `level.ts` and `purse.ts`.
 */
const COMMON = `
local prefix = '${PREFIX}'
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'lost' } end
local now
if ARGV[2] == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
else now = tonumber(ARGV[2]) end
local call = cjson.decode(ARGV[3])
local function text(number) return string.format('%.0f', number) end
`

const RATES = `${COMMON}
local function parts(limit) if limit > 9000000000 then return 1000 end return 1000000 end
local function keyOf(rate) return prefix .. 'rate:' .. rate.counts .. ':' .. rate.bucket end
local function filled(rate)
  local full = rate.limit * parts(rate.limit)
  local known = redis.call('HMGET', keyOf(rate), 'level', 'rest', 'at', 'limit', 'period')
  if not known[1] then return { level = full, rest = 0 } end
  local limit = tonumber(known[4])
  local rest = 0
  if limit == rate.limit and tonumber(known[5]) == rate.period then rest = tonumber(known[2]) end
  local elapsed = math.max(0, now - tonumber(known[3]))
  local grown = elapsed * (full % rate.period) + rest
  local level = math.floor(tonumber(known[1]) * parts(rate.limit) / parts(limit))
    + elapsed * math.floor(full / rate.period) + math.floor(grown / rate.period)
  if level >= full then return { level = full, rest = 0 } end
  return { level = level, rest = grown % rate.period }
end
local function waitFor(rate, bucket, wanted)
  if bucket.level >= wanted then return 0 end
  local full = rate.limit * parts(rate.limit)
  return math.max(1, math.ceil(((wanted - bucket.level) * rate.period - bucket.rest) / full))
end
local function write(rate, bucket)
  local untilFull = waitFor(rate, bucket, rate.limit * parts(rate.limit))
  redis.call('HSET', keyOf(rate), 'level', text(bucket.level), 'rest', text(bucket.rest), 'at', text(now),
    'limit', text(rate.limit), 'period', text(rate.period))
  redis.call('PEXPIRE', keyOf(rate), text(untilFull + 1000))
end
`

/** A bucket has a sorted set of the exchanges that have a place, by the moment when that is free again. */
const PLACES = `
local function placesOf(bucket) return prefix .. 'places:' .. bucket end
local function place(bucket, id, lasts, existing)
  local key = placesOf(bucket)
  if existing then redis.call('ZADD', key, 'XX', text(now + lasts), id)
  else redis.call('ZADD', key, text(now + lasts), id) end
  if redis.call('PTTL', key) < lasts + 1000 then redis.call('PEXPIRE', key, text(lasts + 1000)) end
end
`

/**
 * Gives the index of what is missing for longest (0: nothing), how long, and the level of each rate. Nobody knows when a
 * request ends that runs; but where all processes that hold places have been silent, their places will be free soon.
 */
export const TAKE = `${RATES}${PLACES}
local function freeAfter(key, limit)
  local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  if tonumber(last[2]) - now > call.silent then return call.wait end
  local at = redis.call('ZCARD', key) - limit
  local free = redis.call('ZRANGE', key, at, at, 'WITHSCORES')
  return math.max(call.wait, tonumber(free[2]) - now)
end
local buckets, longest, missing = {}, 0, 0
local function lacks(index, wait) if wait > longest then longest, missing = wait, index end end
for index, rate in ipairs(call.rates) do
  buckets[index] = filled(rate)
  lacks(index, waitFor(rate, buckets[index], rate.amount * parts(rate.limit)))
end
for index, wanted in ipairs(call.places) do
  local key = placesOf(wanted.bucket)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
  if redis.call('ZCARD', key) >= wanted.limit and not redis.call('ZSCORE', key, call.id) then
    lacks(#call.rates + index, freeAfter(key, wanted.limit))
  end
end
if missing == 0 or call.forced then
  longest, missing = 0, 0
  for index, rate in ipairs(call.rates) do
    buckets[index].level = buckets[index].level - rate.amount * parts(rate.limit)
    write(rate, buckets[index])
  end
  for _, wanted in ipairs(call.places) do place(wanted.bucket, call.id, call.lasts, false) end
end
local reply = { text(missing), text(longest) }
for index, rate in ipairs(call.rates) do
  local bucket = buckets[index]
  table.insert(reply, text(math.floor(bucket.level / parts(rate.limit))))
  table.insert(reply, text(waitFor(rate, bucket, rate.limit * parts(rate.limit))))
end
return reply`

export const GIVE = `${RATES}${PLACES}
for _, rate in ipairs(call.rates) do
  local bucket = filled(rate)
  bucket.level = math.min(bucket.level + rate.amount * parts(rate.limit), rate.limit * parts(rate.limit))
  write(rate, bucket)
end
for _, bucket in ipairs(call.places) do redis.call('ZREM', placesOf(bucket), call.id) end
return {}`

/**
 * A bucket has a hash with what is held and what each period has spent since when, and its holds twice: by id, with
 * what they hold, and by the moment when they expire.
 */
const SUMS = `${COMMON}
local periods = { 'day', 'week', 'month', 'total' }
local function purseOf(bucket) return prefix .. 'money:' .. bucket end
local function holdsOf(bucket) return prefix .. 'holds:' .. bucket end
local function untilOf(bucket) return prefix .. 'until:' .. bucket end
local function last(bucket, more)
  for _, key in ipairs({ purseOf(bucket), holdsOf(bucket), untilOf(bucket) }) do
    redis.call('PEXPIRE', key, text(${KEPT} + more))
  end
end
local function release(bucket, id)
  local hold = redis.call('HGET', holdsOf(bucket), id)
  if not hold then return nil end
  redis.call('HDEL', holdsOf(bucket), id)
  redis.call('ZREM', untilOf(bucket), id)
  local micros, input, at = string.match(hold, '^(%d+):(%d+):(%d+)$')
  local held = tonumber(redis.call('HGET', purseOf(bucket), 'held') or '0')
  redis.call('HSET', purseOf(bucket), 'held', text(math.max(0, held - tonumber(micros))))
  return { micros = tonumber(micros), input = tonumber(input), at = tonumber(at) }
end
local function hold(bucket, id, micros, input, at, lasts)
  release(bucket, id)
  redis.call('HSET', holdsOf(bucket), id, text(micros) .. ':' .. text(input) .. ':' .. text(at))
  redis.call('ZADD', untilOf(bucket), text(now + lasts), id)
  redis.call('HINCRBY', purseOf(bucket), 'held', text(micros))
  last(bucket, lasts)
end
local function expire(bucket)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', untilOf(bucket), '-inf', text(now))) do release(bucket, id) end
end
local function stateOf(sum)
  expire(sum.bucket)
  local known = redis.call('HMGET', purseOf(sum.bucket), sum.period .. ':since', sum.period .. ':spent', 'held')
  if not known[1] then return nil end
  local since, spent = tonumber(known[1]), tonumber(known[2])
  local previous, current, following = sum.starts[1], sum.starts[2], sum.starts[3]
  local start = previous
  if following > 0 and now >= following then start = following elseif now >= current then start = current end
  if since < start then
    since, spent = start, 0
    redis.call('HSET', purseOf(sum.bucket), sum.period .. ':since', text(since), sum.period .. ':spent', '0')
  end
  return { since = since, spent = spent, held = tonumber(known[3] or '0') }
end
`

/** Gives `unknown` and indexes, `refused`, an index and the state of its sum, or `held`, the time, the amount and what each sum has left. */
export const RESERVE = `${SUMS}
local states, unknown = {}, { 'unknown' }
for index, sum in ipairs(call.sums) do
  states[index] = stateOf(sum)
  if not states[index] then table.insert(unknown, text(index)) end
end
if #unknown > 1 then return unknown end
local admits, tightest, left = nil, 1, {}
for index, sum in ipairs(call.sums) do
  local state = states[index]
  local own = string.match(redis.call('HGET', holdsOf(sum.bucket), call.id) or '0', '^%d+')
  local held = state.held - tonumber(own)
  left[index] = sum.limit - state.spent - held
  local room = left[index]
  if room <= 0 then room = -1 elseif held == 0 then room = math.huge end
  if admits == nil or room < admits then admits, tightest = room, index end
end
local held
for _, estimate in ipairs(call.estimates) do
  if estimate <= admits then held = estimate break end
end
if held == nil then
  local state = states[tightest]
  return { 'refused', text(tightest), text(state.spent), text(state.held), text(state.since) }
end
local reply = { 'held', text(now), text(held) }
for index, sum in ipairs(call.sums) do
  hold(sum.bucket, call.id, held, call.input, now, call.lasts)
  table.insert(reply, text(math.max(0, left[index] - held)))
end
return reply`

/** Gives what was charged, or nothing. */
export const SETTLE = `${SUMS}
local charged
for _, bucket in ipairs(call.sums) do
  local ended = release(bucket, call.id)
  if ended then
    charged = call.micros
    if charged == 'input' then charged = ended.input end
    for _, period in ipairs(periods) do
      local since = redis.call('HGET', purseOf(bucket), period .. ':since')
      if since and ended.at >= tonumber(since) then
        redis.call('HINCRBY', purseOf(bucket), period .. ':spent', text(charged))
      end
    end
    last(bucket, 0)
  end
end
if charged == nil then return {} end
return { text(charged) }`

export const SEED = `${SUMS}
for _, seed in ipairs(call.seeds) do
  local since, spent = seed.period .. ':since', seed.period .. ':spent'
  local known = redis.call('HMGET', purseOf(seed.bucket), since, spent)
  if not known[1] or tonumber(known[1]) < seed.since then
    redis.call('HSET', purseOf(seed.bucket), since, text(seed.since), spent, text(seed.spent))
  elseif tonumber(known[1]) == seed.since and tonumber(known[2]) < seed.spent then
    redis.call('HSET', purseOf(seed.bucket), spent, text(seed.spent))
  end
  last(seed.bucket, 0)
end
return {}`

/** Gives three numbers per sum, or an empty text for one that is unknown. */
export const READ = `${SUMS}
local reply = {}
for _, sum in ipairs(call.sums) do
  local state = stateOf(sum)
  table.insert(reply, state and (text(state.spent) .. ' ' .. text(state.held) .. ' ' .. text(state.since)) or '')
end
return reply`

export const RESET = `${SUMS}
for _, period in ipairs(periods) do
  if redis.call('HEXISTS', purseOf(call.bucket), period .. ':since') == 1 then
    redis.call('HSET', purseOf(call.bucket), period .. ':since', text(call.at), period .. ':spent', '0')
  end
end
return {}`

/** With `existing`, only what is still held lasts longer: it may have ended meanwhile. */
export const HOLD = `${SUMS}${PLACES}
for _, one in ipairs(call.holds) do
  for _, bucket in ipairs(one.places) do place(bucket, one.id, one.lasts, call.existing) end
  for _, bucket in ipairs(one.sums) do
    if not call.existing then hold(bucket, one.id, one.micros, one.input, one.at, one.lasts)
    elseif redis.call('HEXISTS', holdsOf(bucket), one.id) == 1 then
      redis.call('ZADD', untilOf(bucket), text(now + one.lasts), one.id)
      last(bucket, one.lasts)
    end
  end
end
return {}`

/** Gives the number of processes that run: a sorted set has them by the moment when they count as gone. */
export const RUNNING = `${COMMON}
local key = prefix .. 'processes'
redis.call('ZADD', key, text(now + call.lasts), call.process)
redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
return { text(redis.call('ZCARD', key)) }`
