import { defineStage } from 'sluice'
import type { AnyRecord, Json, JsonObject, RecordLists, ShownRecord } from 'sluice'
import { asText, jsonReply, negated, readList } from 'sluice/kit'
import type { ListQuery } from 'sluice/kit'
import { ofType } from './record-reply.ts'

/** Returns the records of a type that match the query, page by page, in the order that it asks for. */
export default defineStage({
  name: 'list-record',
  summary: 'Return the records of a type.',
  config: ofType,
  needs: ['ingress'],
  provides: ['reply'],
  build: ({ of }, { records }) => {
    const type = records.types.get(of)
    const lists = type?.lists ?? usualLists(type)
    const accepted = Object.entries(lists.filters).map(([name, { accepts }]) => [name, accepts] as const)
    const fields = Object.fromEntries(accepted)
    const filters = { ...fields, ...negated(fields), search: 'text' as const }
    return ({ ingress }) => {
      const list = readList(ingress.query, { filters, sorts: lists.sorts, usualSort: 'name' })
      const found = records.of(of).filter(({ shown }) => fits(shown, lists, list))
      // A record without the field comes first: declared records are older than all others.
      const keyOf = ({ shown, name }: ShownRecord) => [sortable(shown[list.sort]), name] as const
      const { data, next_cursor } = list.page(found, keyOf)
      return { reply: jsonReply({ data: data.map(({ shown }) => shown), next_cursor }) }
    }
  },
})

/** Lists of a type that says nothing about them: every field filters. */
function usualLists(type: AnyRecord | undefined): RecordLists {
  const { properties = {} } = (type?.schema ?? {}) as { readonly properties?: object }
  const ofLists = ['limit', 'cursor', 'sort', 'search']
  const fields = ['source', ...Object.keys(properties)].filter((name) => !ofLists.includes(name))
  return {
    filters: Object.fromEntries(fields.map((name) => [name, { accepts: 'text' as const }])),
    sorts: ['name', 'created_at'],
  }
}

function fits(shown: JsonObject, { filters, searched }: RecordLists, list: ListQuery): boolean {
  const texts = searched?.(shown) ?? [shown['name']]
  if (!texts.some((text) => asText(text).toLowerCase().includes(list.search))) return false
  return Object.entries(filters).every(([name, { values = fieldOf(name) }]) => {
    const [wanted, unwanted] = [list.values(name), list.leftOut(name)]
    const isAmong = (texts: readonly string[]) => values(shown).some((value) => texts.includes(textOf(value)))
    return (wanted === undefined || isAmong(wanted)) && (unwanted === undefined || !isAmong(unwanted))
  })
}

function fieldOf(name: string) {
  return (shown: JsonObject) => [shown[name]]
}

function textOf(value: Json | undefined): string {
  return typeof value === 'object' ? '' : String(value)
}

function sortable(value: Json | undefined): string | number | null {
  return typeof value === 'string' || typeof value === 'number' ? value : null
}
