import { defineService } from '../../engine/index.ts'
import type { ServiceHost, ServiceMigration, Tier } from '../../engine/index.ts'
import { ChangePoll, isObject, parseJson, tiers, whenFree } from '../../engine/kit.ts'
import { lookUp, sideOf } from './confidence-map.ts'
import type { ConfidenceMap, Label } from './confidence-map.ts'
import first from './confidence.json' with { type: 'json' }
import type { FittedMap } from './refit.ts'

/** What the confidence of a decision means here. */
export interface Calibration {
  /** Version of the map in use. */
  readonly version: string
  /** The map in use. */
  readonly current: ConfidenceMap
  /** The probability that the tier is right that the signals saw, for its raw confidence. */
  map(raw: number, tier: Tier): number
  /** Stores a map as the next version, which all processes use within 5 seconds. */
  store(map: FittedMap): Promise<ConfidenceMap>
  /** Uses a version again. Undefined: there is none of this name. */
  use(version: string): Promise<ConfidenceMap | undefined>
  /** What people said of decisions since a moment (milliseconds since 1970), oldest first. */
  feedback(since: number): Promise<readonly Label[]>
}

declare module '../../engine/index.ts' {
  interface Services {
    calibration: Calibration
  }
  interface Tables {
    calibration_maps: MapsTable
  }
}

/** Which map was used when. The last row is the one in use. */
interface MapsTable {
  turn: number
  version: string
  /** Milliseconds since 1970. */
  at: number
  /** JSON. */
  map: string
}

const migrations: readonly ServiceMigration[] = [
  {
    name: '1-maps',
    async up(queries) {
      await queries.schema
        .createTable('calibration_maps')
        .addColumn('turn', 'integer', (column) => column.primaryKey())
        .addColumn('version', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('map', 'text', (column) => column.notNull())
        .execute()
    },
  },
]

/** Milliseconds between two looks for a map of another process. */
const interval = 2_000

/** Holds the map from raw confidences to probabilities: the shipped one until labels of this gateway gave another. */
export default defineService({
  name: 'calibration',
  summary: 'The probability that a tier is right, by the confidence of the signals.',
  migrations,
  uses: ['smart_routing', 'routing_records'],
  async open(host) {
    const maps = new Maps(host)
    await maps.read()
    const following = new ChangePoll({
      poll: () => maps.read(),
      changed: () => host.log.info({ map: maps.current.version }, 'another confidence map is used'),
      unknown: 'confidence maps of other processes are not known',
    })
    let polling: NodeJS.Timeout | undefined
    return {
      configure: (_settings, { smart_routing: routing }) => ({
        view: {
          get version() {
            return maps.current.version
          },
          get current() {
            return maps.current
          },
          map: (raw, tier) => lookUp(maps.current, raw, sideOf(tier)),
          store: (map) => maps.store(map),
          use: (version) => maps.use(version),
          feedback: (since) => feedbackOf(host, since),
        },
        live() {
          clearInterval(polling)
          polling = routing.enabled ? setInterval(() => void following.look(), interval).unref() : undefined
        },
      }),
      status: () => following.problem,
      close: () => clearInterval(polling),
    }
  },
})

/** The maps that were used here, of which the last one is used now. */
class Maps {
  readonly #host: Pick<ServiceHost, 'database' | 'rows'>
  current = first as ConfidenceMap
  #turn = 0

  constructor(host: Pick<ServiceHost, 'database' | 'rows'>) {
    this.#host = host
  }

  /** Reads the map in use. Resolves to whether it is another one. The statement loads no query builder. */
  async read(): Promise<boolean> {
    const [row] = await this.#host.rows<MapsTable>(
      `select * from calibration_maps where turn > ${this.#turn} order by turn desc limit 1`,
    )
    if (row === undefined) return false
    this.#turn = row.turn
    this.current = parseJson(row.map) as ConfidenceMap
    return true
  }

  async store(map: FittedMap): Promise<ConfidenceMap> {
    const [last] = await this.#host.rows<{ readonly count: number | string }>(
      `select count(distinct version) as count from calibration_maps where version <> '${first.version}'`,
    )
    return this.#add({ version: `local-${Number(last?.count ?? 0) + 1}`, ...map })
  }

  async use(version: string): Promise<ConfidenceMap | undefined> {
    if (version === first.version) return this.#add(first as ConfidenceMap)
    const row = await this.#host.database
      .selectFrom('calibration_maps')
      .select('map')
      .where('version', '=', version)
      .executeTakeFirst()
    return row && this.#add(parseJson(row.map) as ConfidenceMap)
  }

  /** Two at the same time get turns of their own, or one of them fails: the turn is the primary key. */
  async #add(map: ConfidenceMap): Promise<ConfidenceMap> {
    await whenFree(async () => {
      const [last] = await this.#host.rows<{ readonly turn: number | null }>(
        'select max(turn) as turn from calibration_maps',
      )
      const row = { turn: (last?.turn ?? 0) + 1, version: map.version, at: Date.now(), map: JSON.stringify(map) }
      await this.#host.database.insertInto('calibration_maps').values(row).execute()
    })
    await this.read()
    return map
  }
}

/** A tier was right if its model was neither too weak nor stronger than needed. */
async function feedbackOf(host: Pick<ServiceHost, 'database'>, since: number): Promise<readonly Label[]> {
  const rows = await host.database
    .selectFrom('routing_records_labels as label')
    .innerJoin('requests as request', 'request.id', 'label.id')
    .select(['label.signal', 'request.metadata'])
    .where('label.at', '>=', since)
    .orderBy('label.at')
    .orderBy('label.id')
    .execute()
  return rows.flatMap(({ signal, metadata }) => {
    const { routing } = parseJson(metadata) as { readonly routing?: unknown }
    const { confidence_raw: raw, ensemble } = isObject(routing) ? routing : {}
    const tier = tiers.find((one) => isObject(ensemble) && ensemble['tier'] === one)
    // A decision that no signal judged has no confidence to be measured.
    if (typeof raw !== 'number' || raw <= 0) return []
    return [{ raw, right: signal === 'ok' ? 1 : 0, ...(tier && { tier }) }]
  })
}
