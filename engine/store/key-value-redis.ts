import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import type { RedisOptions, Result } from 'ioredis'
import type { Logger } from 'pino'
import { storeUnavailable } from './key-value.ts'
import type { OpenKeyValue } from './key-value.ts'

/** Milliseconds that a command may take: values of some megabytes need their time on the wire. */
const COMMAND = 3_000

/** Longest pause between two attempts to connect, in milliseconds. */
const LONGEST_PAUSE = 2_000

/** What keeps the keys apart from those that others keep in the same server. */
const PREFIX = 'sluice:kv:'

/**
 * Writes a hash of `version` and `value` that expires, if the version is the expected one: `any`, `none`, or `=` and
 * the version. One script: nobody else comes between the look and the write.
 */
const WRITE = `
local held = redis.call('HGET', KEYS[1], 'version')
if ARGV[1] == 'none' and held then return 0 end
if ARGV[1] ~= 'any' and ARGV[1] ~= 'none' and (not held or ARGV[1] ~= '=' .. held) then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'value', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`

declare module 'ioredis' {
  interface RedisCommander<Context> {
    writeVersion(key: string, expected: string, version: string, value: Buffer, ttl: number): Result<number, Context>
  }
}

/**
 * How any part of the gateway connects to Redis. The client's own defaults queue commands without end while the server
 * is away and repeat them after it came back; here a command fails at once or in time, and is never sent twice.
 */
export const redisOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  commandTimeout: COMMAND,
  // A server that takes commands and is silent is let go: the next calls then fail at once and not after a while each.
  socketTimeout: COMMAND,
  connectTimeout: COMMAND,
  retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), LONGEST_PAUSE),
} as const satisfies RedisOptions

/**
 * The key-value store in Redis (7 or later). Resolves once it is connected, or once that has failed: the store is then
 * `failing`, every call rejects with `store_unavailable` at once, and it comes back by itself. The log hears of each
 * change.
 */
export async function openRedisKeyValue(url: string, log: Logger): Promise<OpenKeyValue> {
  const redis = new Redis(url, { ...redisOptions, lazyConnect: true })
  redis.defineCommand('writeVersion', { numberOfKeys: 1, lua: WRITE })
  let reported = false
  let closed = false
  const away = (reason: string) => {
    if (closed || reported) return
    reported = true
    log.warn({ reason }, 'the key-value store cannot be reached')
  }
  redis.on('error', (error: Error) => away(reasonOf(error)))
  redis.on('close', () => away('the connection was closed'))
  redis.on('ready', () => {
    if (reported) log.info('the key-value store can be reached again')
    reported = false
  })
  await redis.connect().catch((error: unknown) => away(reasonOf(error)))

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
    async set(key, value, { ttl, version }) {
      const expected = version === undefined ? 'any' : version === null ? 'none' : `=${version}`
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      const next = randomBytes(12).toString('base64url')
      return (await asked(redis.writeVersion(PREFIX + key, expected, next, bytes, Math.ceil(ttl)))) === 1
    },
    delete: async (key) => (await asked(redis.del(PREFIX + key))) === 1,
    async close() {
      closed = true
      redis.disconnect()
    },
  }
}

function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  return first instanceof Error ? first.message : String(first)
}
