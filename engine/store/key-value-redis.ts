import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import type { RedisOptions, Result } from 'ioredis'
import type { Logger } from 'pino'
import { bufferOf } from '../stream/buffer-of.ts'
import { storeUnavailable } from './key-value.ts'
import type { OpenKeyValue } from './key-value.ts'

/** Maximum milliseconds for a command: values of some megabytes take time to transfer. */
const COMMAND = 3_000

/** Maximum milliseconds between two attempts to connect. */
const LONGEST_PAUSE = 2_000

/** Prefix of our keys on a shared server. */
const PREFIX = 'sluice:kv:'

/** Prefix of the accounts' books. */
const ACCOUNTS = 'sluice:kv-account:'

/**
 * The book of an account is a sorted set of `<bytes> <key>` by expiry time, and a counter next to it with the sum of
 * the bytes. Expired entries are removed before the book is read or written.
 */
const BOOK = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function book(account) return '${ACCOUNTS}' .. account end
local function clear(account)
  local over = redis.call('ZRANGEBYSCORE', book(account), '-inf', now)
  for _, entry in ipairs(over) do
    redis.call('DECRBY', book(account) .. ':bytes', string.match(entry, '^%d+'))
    redis.call('ZREM', book(account), entry)
  end
end
local function entryOf(key) return redis.call('HSTRLEN', key, 'value') .. ' ' .. key end
local function strike(key)
  local account = redis.call('HGET', key, 'account')
  if not account then return end
  if redis.call('ZREM', book(account), entryOf(key)) == 1 then
    redis.call('DECRBY', book(account) .. ':bytes', redis.call('HSTRLEN', key, 'value'))
  end
end
local function last(account, ttl)
  for _, name in ipairs({ book(account), book(account) .. ':bytes' }) do
    if redis.call('PTTL', name) < tonumber(ttl) then redis.call('PEXPIRE', name, ttl) end
  end
end
`

/**
 * Writes an expiring hash of `version` and `value` if the version is the expected one: `any`, `none`, or `=` and the
 * version. It is a single script, so no other command runs between the check and the write.
 */
const WRITE = `${BOOK}
local held = redis.call('HGET', KEYS[1], 'version')
if ARGV[1] == 'none' and held then return 0 end
if ARGV[1] ~= 'any' and ARGV[1] ~= 'none' and (not held or ARGV[1] ~= '=' .. held) then return 0 end
strike(KEYS[1])
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'value', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local account = ARGV[5]
if account == '' then redis.call('HDEL', KEYS[1], 'account') return 1 end
redis.call('HSET', KEYS[1], 'account', account)
clear(account)
redis.call('ZADD', book(account), now + ARGV[4], entryOf(KEYS[1]))
redis.call('INCRBY', book(account) .. ':bytes', #ARGV[3])
last(account, ARGV[4])
return 1`

const EXTEND = `${BOOK}
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[1], 'GT')
local account = redis.call('HGET', KEYS[1], 'account')
if account then
  redis.call('ZADD', book(account), 'XX', 'GT', now + ARGV[1], entryOf(KEYS[1]))
  last(account, ARGV[1])
end
return 1`

const DELETE = `${BOOK}
strike(KEYS[1])
return redis.call('DEL', KEYS[1])`

const USED = `${BOOK}
clear(ARGV[1])
return { redis.call('ZCARD', book(ARGV[1])), tonumber(redis.call('GET', book(ARGV[1]) .. ':bytes') or 0) }`

declare module 'ioredis' {
  interface RedisCommander<Context> {
    writeVersion(
      key: string,
      expected: string,
      version: string,
      value: Buffer,
      ttl: number,
      account: string,
    ): Result<number, Context>
    extendValue(key: string, ttl: number): Result<number, Context>
    deleteValue(key: string): Result<number, Context>
    usedBy(account: string): Result<[count: number, bytes: number], Context>
  }
}

/**
 * Redis options for all parts of the gateway. By default the client queues commands without limit while the server is
 * unavailable, and repeats them after reconnecting; with these options a command fails at once or at its timeout, and
 * is never sent twice.
 */
export const redisOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  commandTimeout: COMMAND,
  // Disconnects from a server that accepts commands but does not respond: later calls then fail at once instead of at
  // their timeout.
  socketTimeout: COMMAND,
  connectTimeout: COMMAND,
  retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), LONGEST_PAUSE),
} as const satisfies RedisOptions

/**
 * A connection of a service's own. Resolves once it is connected, or once that has failed; it then tries again on its
 * own. The key-value store reports when the server cannot be reached.
 */
export async function connectRedis(url: string): Promise<Redis> {
  const redis = new Redis(url, { ...redisOptions, lazyConnect: true })
  // Without a listener, the driver prints every failed attempt to connect.
  redis.on('error', () => undefined)
  await redis.connect().catch(() => undefined)
  return redis
}

/**
 * The key-value store in Redis (7 or later). Resolves once it is connected, or once the connection has failed. In the
 * latter case the store is `failing`, every call rejects with `store_unavailable` at once, and the store reconnects on
 * its own. Every change of state is logged. A Redis Cluster is refused: its nodes redirect commands to each other, and
 * our scripts use keys that it keeps on several nodes.
 */
export async function openRedisKeyValue(url: string, log: Logger): Promise<OpenKeyValue> {
  const redis = new Redis(url, { ...redisOptions, lazyConnect: true })
  redis.defineCommand('writeVersion', { numberOfKeys: 1, lua: WRITE })
  redis.defineCommand('extendValue', { numberOfKeys: 1, lua: EXTEND })
  redis.defineCommand('deleteValue', { numberOfKeys: 1, lua: DELETE })
  redis.defineCommand('usedBy', { numberOfKeys: 0, lua: USED })
  let reported = false
  let closed = false
  const away = (reason: string) => {
    if (closed || reported) return
    reported = true
    log.warn({ reason }, 'the key-value store cannot be reached')
  }
  redis.on('error', (error: Error) => away(reasonOf(error)))
  redis.on('close', () => away('the connection was closed'))
  const welcome = async (): Promise<void> => {
    if (await isCluster(redis)) {
      log.error('the key-value store is a Redis Cluster, which is not supported: name a single server')
      reported = true
      // Does not connect again, so every call fails at once.
      const ended = once(redis, 'end')
      redis.disconnect()
      return void (await ended)
    }
    if (reported) log.info('the key-value store can be reached again')
    reported = false
  }
  let welcomed: Promise<void> | undefined
  redis.on('ready', () => (welcomed = welcome()))
  await redis.connect().catch((error: unknown) => away(reasonOf(error)))
  await welcomed

  const asked = <T>(reply: Promise<T>): Promise<T> =>
    reply.catch((error: unknown) => {
      throw storeUnavailable(error)
    })
  return {
    shared: true,
    get failing() {
      return redis.status !== 'ready'
    },
    async get(key) {
      const [version, value] = await asked(redis.hmgetBuffer(PREFIX + key, 'version', 'value'))
      return version && value ? { version: version.toString('latin1'), value } : undefined
    },
    async set(key, value, { ttl, version, account = '' }) {
      const expected = version === undefined ? 'any' : version === null ? 'none' : `=${version}`
      const bytes = bufferOf(value)
      const next = randomBytes(12).toString('base64url')
      return (await asked(redis.writeVersion(PREFIX + key, expected, next, bytes, Math.ceil(ttl), account))) === 1
    },
    extend: async (key, ttl) => (await asked(redis.extendValue(PREFIX + key, Math.ceil(ttl)))) === 1,
    delete: async (key) => (await asked(redis.deleteValue(PREFIX + key))) === 1,
    async used(account) {
      const [count, bytes] = await asked(redis.usedBy(account))
      return { count, bytes }
    },
    async close() {
      closed = true
      redis.disconnect()
    },
  }
}

async function isCluster(redis: Redis): Promise<boolean> {
  try {
    return /^redis_mode:cluster\r?$/m.test(await redis.info('server'))
  } catch {
    // The user may not be allowed to ask, or the connection broke, after which it is asked again.
    return false
  }
}

function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  return first instanceof Error ? first.message : String(first)
}
