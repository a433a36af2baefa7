import { defineService } from '../../engine/index.ts'
import type { Tier } from '../../engine/index.ts'
import { tiers } from '../../engine/kit.ts'
import { Circuit } from './circuit.ts'
import type { Consultation } from './consultation.ts'
import { migrations } from './table.ts'

/** How often the signals and the judge said what. */
export interface Agreement {
  readonly ensemble: Tier
  readonly judge: Tier
  readonly count: number
  readonly shadow: boolean
}

/** What the gateway knows of the judge. */
interface Judging {
  /** Of this process, for these settings and this model. */
  readonly circuit: Circuit
  /**
   * Says how the judge is asked without a request. It is asked once the configuration is live, unless it has been since
   * the settings or the model changed. Of several ways, the first counts.
   */
  warmUp(ask: () => void): void
  /** Counts a verdict. Never waits. */
  keep(id: string, verdict: Pick<Consultation, 'ensemble' | 'shadow'> & { readonly verdict: Tier }): void
  /** Verdicts since a moment in milliseconds since 1970. */
  agreement(since: number): Promise<readonly Agreement[]>
}

declare module '../../engine/index.ts' {
  interface Services {
    judging: Judging
  }
}

const DAY = 86_400_000

/** How long verdicts are kept, and how often old ones are deleted, in milliseconds. */
const KEPT = 400 * DAY
const CLEAN = DAY / 24

/** Place of a count in lists: by the tier of the signals, then by that of the judge, first those that had an effect. */
function placeOf({ ensemble, judge, shadow }: Agreement): number {
  return tiers.indexOf(ensemble) * 10 + tiers.indexOf(judge) * 2 + (shadow ? 1 : 0)
}

/** Remembers what the judge said, whether it fails, and whether it is warm. */
export default defineService({
  name: 'judging',
  summary: 'Whether the judge of smart routing works, and how often it agrees with the signals.',
  migrations,
  uses: ['smart_routing'],
  open(host) {
    const verdicts = host.appender('judging_verdicts', { waits: true })
    /** Of the configuration that is live: what the judge depends on, and its circuit. */
    let current = { version: '', circuit: new Circuit() }
    const clean = async () => {
      try {
        await host.rows(`delete from judging_verdicts where at < ${Date.now() - KEPT}`)
      } catch (error) {
        host.log.warn({ err: error }, 'old verdicts of the judge cannot be deleted; trying again')
      }
    }
    const cleaning = setInterval(() => void clean(), CLEAN).unref()
    return {
      configure(_settings, { smart_routing: { enabled, settings } }, { catalog }) {
        const { judge } = settings
        const isOn = enabled && judge.enabled
        const version = isOn ? JSON.stringify([judge, catalog.find(judge.model ?? '')]) : ''
        const own = version === current.version ? current : { version, circuit: new Circuit() }
        let ask: (() => void) | undefined
        let isLive = false
        let isCold = false
        const warm = () => {
          if (!isCold || !ask) return
          isCold = false
          ask()
        }
        const view: Judging = {
          circuit: own.circuit,
          warmUp(way) {
            ask ??= way
            if (isLive) warm()
          },
          keep: (id, { ensemble, verdict, shadow }) =>
            verdicts.append({ id, at: Date.now(), ensemble, verdict, shadow: shadow ? 1 : 0 }),
          async agreement(since) {
            const rows = await host.database
              .selectFrom('judging_verdicts')
              .select(({ fn }) => ['ensemble', 'verdict', 'shadow', fn.countAll<number | string>().as('count')])
              .where('at', '>=', since)
              .groupBy(['ensemble', 'verdict', 'shadow'])
              .execute()
            const counted = rows.map(({ ensemble, verdict, shadow, count }) => ({
              ensemble: ensemble as Tier,
              judge: verdict as Tier,
              count: Number(count),
              shadow: shadow === 1,
            }))
            return counted.toSorted((one, other) => placeOf(one) - placeOf(other))
          },
        }
        return {
          view,
          live() {
            isLive = true
            isCold = isOn && own !== current
            current = own
            warm()
          },
        }
      },
      close: () => clearInterval(cleaning),
    }
  },
})
