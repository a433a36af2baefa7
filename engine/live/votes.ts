import type { Registry } from '../config/registry.ts'
import type { Ask, Vote } from '../spec/signal.ts'
import type { GatewayHost } from './gateway-host.ts'

/** Milliseconds after its deadline at which a signal must be stuck. One that is merely late shall not lose its thread. */
const grace = 1_000

/** The votes of signals. A signal that is late, fails or returns an invalid vote abstains. */
export function collectVotes(
  { log, work }: Pick<GatewayHost, 'log' | 'work'>,
  registry: Registry,
  names: readonly string[],
  ask: Ask,
  deadline: number,
): ReadonlyMap<string, Vote> | Promise<ReadonlyMap<string, Vote>> {
  const votes = new Map<string, Vote>()
  const waiting: Promise<void>[] = []
  const take = (name: string, vote: unknown) => {
    if (!isVote(vote)) throw new Error('it gave no vote')
    votes.set(name, vote)
  }
  const abstains = (name: string, error: unknown) => log.warn({ err: error, signal: name }, 'a signal abstains')
  for (const name of names)
    try {
      const signal = registry.signals.get(name)
      if (!signal) throw new Error(`no signal named "${name}"`)
      const { module, quick = -1 } = signal
      const isQuick = ask.text.length <= quick
      const run = isQuick ? loaded.get(module.href) : undefined
      // Nearly always, a quick signal is loaded, and nobody waits.
      if (run) take(name, run(ask))
      else
        waiting.push(
          (isQuick ? load(module).then((one) => one(ask)) : work<unknown>(module, ask, deadline, grace))
            .then((vote) => take(name, vote))
            .catch((error: unknown) => abstains(name, error)),
        )
    } catch (error) {
      abstains(name, error)
    }
  return waiting.length === 0 ? votes : Promise.all(waiting).then(() => votes)
}

type Run = (ask: Ask) => unknown

/** The functions of quick signals, by the addresses of their modules. */
const loaded = new Map<string, Run>()

async function load({ href }: URL): Promise<Run> {
  const { default: run } = (await import(href)) as { readonly default: Run }
  loaded.set(href, run)
  return run
}

function isVote(value: unknown): value is Vote {
  const { complexity, benefit, confidence, reasons, features, version } = (value ?? {}) as Partial<Vote>
  return (
    isShare(complexity) &&
    (benefit === undefined || isShare(benefit)) &&
    isShare(confidence) &&
    Array.isArray(reasons) &&
    reasons.every((reason) => typeof reason === 'string') &&
    (version === undefined || typeof version === 'string') &&
    (features === undefined || (Array.isArray(features) && features.every((one) => Number.isFinite(one))))
  )
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}
