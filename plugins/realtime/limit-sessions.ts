import { GatewayError, defineStage } from '../../engine/index.ts'

const limit = (fallback: number, description: string) =>
  ({ type: 'integer', minimum: 1, default: fallback, description }) as const

/** Limits the sessions that are open at the same time. */
export default defineStage({
  name: 'limit-sessions',
  summary: 'Refuse sessions while too many are open.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      per_key: limit(64, 'Most open sessions of one API key, in each process.'),
      per_process: limit(1024, 'Most open sessions of one process.'),
    },
  } as const,
  needs: ['principal'],
  provides: [],
  settles: [],
  build: (limits, host) => {
    const open = host.keep('realtime sessions', () => new OpenSessions())
    return ({ principal }, _scope, settle) => {
      const who = `${principal.kind} ${principal.id}`
      if (open.all >= limits.per_process) throw tooMany(`The gateway has ${open.all} sessions open.`)
      if (open.of(who) >= limits.per_key) throw tooMany(`This API key has ${open.of(who)} sessions open.`)
      open.add(who, 1)
      settle(() => open.add(who, -1))
      return {}
    }
  },
})

/** The sessions that this process has open. */
class OpenSessions {
  readonly #counts = new Map<string, number>()
  all = 0

  of(who: string): number {
    return this.#counts.get(who) ?? 0
  }

  add(who: string, count: 1 | -1): void {
    this.all += count
    const left = this.of(who) + count
    if (left > 0) this.#counts.set(who, left)
    else this.#counts.delete(who)
  }
}

function tooMany(reason: string): GatewayError {
  return new GatewayError('overloaded', {}, { message: `${reason} Close one, or try again later.`, retryAfter: 1 })
}
