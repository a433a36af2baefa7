import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'

/** Milliseconds that a process owns a job after a sign of life. */
export const OWNED = 10_000

/**
 * The queue keeps owners under `<job>:lock`, and every job in one list or set, by what it waits for. The tokens of one
 * process have the name of its worker before a colon: what it took a moment ago under another token is its own.
 */
const OWN = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local owner = redis.call('GET', KEYS[1] .. ':lock')
if owner then
  local worker = string.match(owner, '^(.+):')
  if owner == ARGV[2] or worker and worker == string.match(ARGV[2], '^(.+):') then return 1 end
  if ARGV[4] then redis.call('HSET', KEYS[1], 'cancelled', 1) end
  return 0
end
redis.call('LREM', KEYS[2], 0, ARGV[1])
redis.call('LREM', KEYS[3], 0, ARGV[1])
redis.call('SREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[1])
redis.call('LPUSH', KEYS[3], ARGV[1])
redis.call('SET', KEYS[1] .. ':lock', ARGV[2], 'PX', ARGV[3])
return 1`

/**
 * Takes a job out of whatever it waits for and makes the holder of `token` its owner, if it has no other; answers whether
 * that, or the same worker under another token, is its owner now. `cancel`: a job of another owner is marked as one that is to end.
 */
export async function ownJob(
  redis: Redis,
  queue: Queue,
  { id, token, cancel }: { readonly id: string; readonly token: string; readonly cancel: boolean },
): Promise<boolean> {
  const keys = [id, 'wait', 'active', 'stalled', 'delayed'].map((name) => queue.toKey(name))
  const given = [id, token, OWNED, ...(cancel ? ['cancel'] : [])]
  return (await redis.eval(OWN, keys.length, ...keys, ...given)) === 1
}

/** Those of the jobs that are marked as ones that are to end. */
export async function cancelledJobs(redis: Redis, queue: Queue, ids: readonly string[]): Promise<readonly string[]> {
  const marks = await Promise.all(ids.map((id) => redis.hexists(queue.toKey(id), 'cancelled')))
  return ids.filter((_, index) => marks[index] === 1)
}
