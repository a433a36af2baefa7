import type { ServiceHost, Services } from '../../engine/index.ts'
import { parsedObject } from '../../engine/kit.ts'
import { whyUnproven } from './verify.ts'
import type { Flaw, Verdict } from './verify.ts'

type Cause = Awaited<ReturnType<Parameters<Services['notifications']['watch']>[1]['read']>>[number]

/** Milliseconds for which a verdict holds, and between two looks for that of another process. */
const lasts = 3_600_000
const looks = 60_000
const place = 'audit.verdict'

/** The last verdict over the whole trail, which processes share: once an hour, one of them verifies. */
export class Verdicts {
  readonly #host: Pick<ServiceHost, 'keyValue' | 'log'>
  readonly #verify: () => Promise<Verdict>
  #flaw: Verdict['first_bad'] = null
  #lookedAt = -Infinity
  #looking = false

  constructor(host: Pick<ServiceHost, 'keyValue' | 'log'>, verify: () => Promise<Verdict>) {
    this.#host = host
    this.#verify = verify
  }

  /** Notes a verdict, unless it rests on what somebody has given. */
  async of(verify: () => Promise<Verdict>, given?: readonly unknown[]): Promise<Verdict> {
    const verdict = await verify()
    if (given === undefined) await this.#note(verdict.first_bad)
    return verdict
  }

  /** Whether the trail is broken, as far as it is known by now. */
  read(): readonly Cause[] {
    void this.#look()
    // What only cannot be proven has other reasons, such as another secret.
    if (this.#flaw === null || whyUnproven(this.#flaw) !== undefined) return []
    const { sequence, reason } = this.#flaw
    return [
      {
        cause: 'audit_broken',
        key: 'audit_broken',
        subject: `Something other than the gateway changed the trail, first at row ${sequence}`,
        facts: { row: sequence, reason },
        path: `/audit?row=${sequence}`,
      },
    ]
  }

  async #note(flaw: Verdict['first_bad']): Promise<void> {
    this.#flaw = flaw
    await this.#host.keyValue
      .set(place, Buffer.from(JSON.stringify(flaw)), { ttl: lasts })
      .catch((error: unknown) => this.#host.log.debug({ err: error }, 'a verdict over the audit trail is not shared'))
  }

  async #look(): Promise<void> {
    if (this.#looking || performance.now() - this.#lookedAt < looks) return
    this.#looking = true
    this.#lookedAt = performance.now()
    try {
      const taken = await this.#host.keyValue.set(place, Buffer.from('null'), { ttl: lasts, version: null })
      if (taken) await this.of(this.#verify)
      else this.#flaw = flawIn((await this.#host.keyValue.get(place))?.value)
    } catch (error) {
      this.#host.log.warn({ err: error }, 'the audit trail could not be verified; trying again')
    } finally {
      this.#looking = false
    }
  }
}

function flawIn(value: Buffer | undefined): Verdict['first_bad'] {
  return value === undefined ? null : ((parsedObject(value.toString()) as Flaw | undefined) ?? null)
}
