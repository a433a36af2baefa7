import { defineAction } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'
import type { BreakerRow, PooledKey } from './breaker-rows.ts'

const breaker = shape.object({
  provider: shape.text('Name of the provider.'),
  model: shape.orNull(shape.text('Name of the model.')),
  state: shape.word(['closed', 'open', 'half_open'], 'Its state.'),
  failures: shape.integer('Failures that count.'),
  requests: shape.integer('Requests that count.'),
  ratio: shape.number('Failures by requests.'),
  opened_at: shape.orNull(shape.time('When it opened.')),
  retry_at: shape.orNull(shape.time('When the provider is tried again.')),
  opened_times: shape.integer('How often it has opened in a row.'),
  last_error: shape.orNull(
    shape.object(
      {
        code: shape.text('The code of the error.'),
        status: shape.orNull(shape.integer('The status of the provider.')),
        at: shape.time('When.'),
      },
      {},
      'The last failure.',
    ),
  ),
  processes: shape.map({ type: 'integer' }, 'How many processes have it in each state.'),
})

const key = shape.object({
  provider: shape.text('Name of the provider.'),
  hint: shape.orNull(shape.text('The last four characters of the key.')),
  cooling_until: shape.time('When it is used again.'),
  because: shape.text('Why it cools down.'),
})

/** Answers the breakers of all processes, one row per provider and model, and the keys that cool down. */
export default defineAction({
  name: 'list-breakers',
  summary: 'Answer the breakers of all processes, and the keys of providers that cool down.',
  route: 'GET /api/config/circuit-breaker',
  access: { role: 'admin' },
  answer: shape.object({ data: shape.list(breaker, 'The breakers.'), keys: shape.list(key, 'The keys.') }),
  uses: ['resilience'],
  async run(_input, { resilience }) {
    const { breakers, keys } = await resilience.all()
    return { data: breakers.map(rowOf), keys: keys.map(keyOf) }
  },
})

function rowOf(row: BreakerRow): JsonObject {
  const { provider, model, state, failures, requests, openedAt, retryAt, openedTimes, lastError, processes } = row
  return {
    provider,
    model,
    state,
    failures,
    requests,
    ratio: requests === 0 ? 0 : failures / requests,
    opened_at: openedAt === null ? null : timeText(openedAt),
    retry_at: retryAt === null ? null : timeText(retryAt),
    opened_times: openedTimes,
    last_error: lastError && { code: lastError.code, status: lastError.status, at: timeText(lastError.at) },
    processes: { ...processes },
  }
}

function keyOf({ provider, hint, until, because }: PooledKey): JsonObject {
  return { provider, hint, cooling_until: timeText(until), because }
}
