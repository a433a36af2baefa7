import type { Registry } from '../config/registry.ts'
import type { Ask, Vote } from '../spec/signal.ts'
import type { GatewayHost } from './gateway-host.ts'

/** Milliseconds after its deadline at which a signal must be stuck. One that is merely late shall not lose its thread. */
const grace = 1_000

/** The votes of signals. A signal that is late, fails or returns an invalid vote abstains. */
export async function collectVotes(
  { log, work }: Pick<GatewayHost, 'log' | 'work'>,
  registry: Registry,
  names: readonly string[],
  ask: Ask,
  deadline: number,
): Promise<ReadonlyMap<string, Vote>> {
  const votes = new Map<string, Vote>()
  const cast = async (name: string) => {
    const signal = registry.signals.get(name)
    if (!signal) throw new Error(`no signal named "${name}"`)
    const vote =
      ask.text.length <= (signal.quick ?? -1)
        ? (await quickOne(signal.module))(ask)
        : await work<unknown>(signal.module, ask, deadline, grace)
    if (!isVote(vote)) throw new Error('it gave no vote')
    votes.set(name, vote)
  }
  await Promise.all(
    names.map((name) =>
      cast(name).catch((error: unknown) => log.warn({ err: error, signal: name }, 'a signal abstains')),
    ),
  )
  return votes
}

/** The functions of quick signals, by the addresses of their modules. */
const quickOnes = new Map<string, Promise<(ask: Ask) => unknown>>()

function quickOne({ href }: URL): Promise<(ask: Ask) => unknown> {
  let found = quickOnes.get(href)
  if (found === undefined) {
    found = import(href).then(({ default: run }: { readonly default: (ask: Ask) => unknown }) => run)
    quickOnes.set(href, found)
    // A later vote tries again.
    found.catch(() => quickOnes.delete(href))
  }
  return found
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
