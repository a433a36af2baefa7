import { readFile } from 'node:fs/promises'
import { defineService } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { parsedJson } from '../../engine/kit.ts'
import { listedFinder } from './match-listed.ts'
import type { FindListed } from './match-listed.ts'
import { readPriceList } from './price-list.ts'
import type { Listed } from './price-list.ts'

/** The public list of prices and limits that was read last. */
export interface PriceLists {
  /** Keeps the entries of a list, so that other answers can use them. */
  keep(entries: readonly Listed[]): Promise<FindListed>
  /** What is known of models of a provider, by their names there. */
  known(provider: JsonObject | undefined, ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>>
}

declare module '../../engine/index.ts' {
  interface Services {
    price_lists: PriceLists
  }
}

export default defineService({
  name: 'price_lists',
  summary: 'The public list of prices and limits that was read last.',
  open({ log }) {
    let find: FindListed | undefined
    const keep = async (entries: readonly Listed[]) => (find = await listedFinder(entries))
    return {
      configure(_settings, _views, { catalog: { source } }) {
        /** Reads the file of the configuration; addresses are read by a sync only. */
        const read = async () => {
          if (source === undefined || URL.canParse(source)) return undefined
          try {
            const entries = await readPriceList(parsedJson(await readFile(source, 'utf8')) ?? null)
            return entries && (await keep(entries))
          } catch (error) {
            log.warn({ err: error }, 'the list of prices cannot be read')
            return undefined
          }
        }
        const view: PriceLists = {
          keep,
          async known(provider, ids) {
            const found = find ?? (await read())
            const listed = ids.map((id) => [id, found?.(provider, id)?.facts] as const)
            return new Map(listed.map(([id, facts]) => [id, facts ? knownOf(facts) : {}]))
          },
        }
        return { view }
      },
    }
  },
})

function knownOf({ pricing, context_length, max_output_tokens }: Listed['facts']): JsonObject {
  return {
    ...(context_length === undefined ? {} : { context_length }),
    ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
    ...(Object.keys(pricing).length > 0 ? { pricing } : {}),
  }
}
