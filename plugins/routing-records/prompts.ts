import type { ServiceHost } from '../../engine/index.ts'
import type { PromptsTable } from './table.ts'

/** The text that a request was routed by. */
export interface RoutedPrompt {
  /** Id of the request. */
  readonly id: string
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  readonly text: string
  /** Whether the judge was asked: the text is then kept as long as the row of the request. */
  readonly isJudged: boolean
}

/** Milliseconds for which a text is kept that nobody has rated. */
const unratedFor = 7 * 86_400_000

/** Texts that are deleted at a time. */
const batch = 500

type Host = Pick<ServiceHost, 'append' | 'database' | 'log' | 'rows' | 'seal' | 'unseal'>

/** The texts by which requests were routed, sealed with the master secret. */
export class Prompts {
  readonly #host: Host
  readonly #append: (row: PromptsTable) => void

  constructor(host: Host) {
    this.#host = host
    this.#append = (row) => host.append('routing_records_prompts', row)
  }

  /** Never waits, never throws. */
  keep({ id, at, text, isJudged }: RoutedPrompt): void {
    try {
      const sealed = this.#host.seal(Buffer.from(text), contextOf(id)).toString('base64')
      this.#append({ id, at: Math.round(at), kept: isJudged ? 1 : 0, sealed })
    } catch (error) {
      this.#host.log.error({ err: error, id }, 'the prompt of a routed request cannot be kept')
    }
  }

  /** The texts of some requests by their ids, without those that were sealed with another master secret. */
  async of(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map()
    const prompts = this.#host.database.selectFrom('routing_records_prompts')
    const rows = await prompts.select(['id', 'sealed']).where('id', 'in', ids).execute()
    return new Map(
      rows.flatMap(({ id, sealed }) => {
        const opened = this.#host.unseal(Buffer.from(sealed, 'base64'), contextOf(id))
        return opened ? [[id, opened.toString()] as const] : []
      }),
    )
  }

  /** Deletes texts that are too old to be rated, but for those of rated and judged requests. */
  async expire(now: number): Promise<void> {
    const old = `kept = 0 and at < ${now - unratedFor}`
    await this.#host.rows(
      `update routing_records_prompts set kept = 1 where ${old} and id in (select id from routing_records_labels)`,
    )
    const some = `select id from routing_records_prompts where ${old} order by at limit ${batch}`
    const one = `delete from routing_records_prompts where id in (${some}) returning id`
    while ((await this.#host.rows(one)).length === batch);
  }
}

/** The context with which a text is sealed. */
export function contextOf(id: string | number): string {
  return `routing prompt ${id}`
}
