import { defineGuard } from '../../engine/index.ts'
import { moduleBeside } from '../../engine/kit.ts'
import { searchAtOnce, searched } from './search.ts'
import type { SearchInput, SearchOutput } from './search.ts'

const module = moduleBeside('search', import.meta.url)

/** Characters up to which a search takes less of the event loop's time than others may wait. */
const atOnce = 1_000_000

/** A kind that looks for some of its entities; all of them, unless it says which. */
export function guardOf(kind: SearchInput['kind'], summary: string) {
  const finders: Readonly<Record<string, { readonly longest: number }>> = searched[kind].finders
  const entities: readonly string[] = Object.keys(finders)
  return defineGuard({
    name: kind,
    summary,
    config: {
      type: 'object',
      additionalProperties: false,
      properties: {
        entities: {
          type: 'array',
          minItems: 1,
          uniqueItems: true,
          items: { enum: entities },
          default: entities,
          description: 'What is looked for.',
        },
      },
    } as const,
    longest: ({ entities: wanted }) => Math.max(...wanted.map((entity) => finders[entity]?.longest ?? 0)),
    build({ entities: wanted }, host) {
      return ({ texts }, { places, timeout }) => {
        const input = { kind, entities: wanted, texts: texts.map(({ text }) => text), places }
        return searchAtOnce(input, atOnce) ?? host.work<SearchOutput>(module, input, timeout)
      }
    },
  })
}
