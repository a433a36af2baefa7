import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'

/** Milliseconds that a process owns a job after its latest renewal. */
export const OWNED = 10_000

/**
 * The queue keeps the owner of a job under `<job>:lock`, and each job in one list or set, according to its state. The
 * tokens of one process begin with the name of its worker and a colon, so that a process recognizes jobs that it owned
 * under an earlier token.
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
 * Takes a job out of its list and makes the holder of `token` its owner, unless it has another one. Returns whether the
 * holder, or the same worker under another token, is the owner now.
 * @param cancel marks a job of another owner as cancelled
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

/** The jobs among `ids` that are marked as cancelled. */
export async function cancelledJobs(redis: Redis, queue: Queue, ids: readonly string[]): Promise<readonly string[]> {
  const marks = await Promise.all(ids.map((id) => redis.hexists(queue.toKey(id), 'cancelled')))
  return ids.filter((_, index) => marks[index] === 1)
}
