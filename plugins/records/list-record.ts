import { defineStage } from '../../engine/index.ts'
import type { AnyRecord, JsonObject, RecordView } from '../../engine/index.ts'
import { jsonReply, readList } from '../../engine/kit.ts'
import type { ListQuery } from '../../engine/kit.ts'
import { ofType, wireOf } from './record-reply.ts'

/** Returns the records of a type that match the query, page by page, sorted by name or age. */
export default defineStage({
  name: 'list-record',
  summary: 'Return the records of a type.',
  config: ofType,
  needs: ['ingress'],
  provides: ['reply'],
  build: ({ of }, { records }) => {
    const fields = fieldsOf(records.types.get(of))
    const filters = Object.fromEntries([...fields, 'search'].map((name) => [name, 'text'] as const))
    return ({ ingress }) => {
      const list = readList(ingress.query, { filters, sorts: ['name', 'created_at'], usualSort: 'name' })
      const found = records.of(of).filter((record) => fits(record, fields, list))
      // Declared records are older than all others.
      const keyOf = ({ stored, name }: RecordView) =>
        [list.sort === 'name' ? name : (stored?.createdAt ?? 0), name] as const
      const { data, next_cursor } = list.page(found, keyOf)
      return { reply: jsonReply({ data: data.map(wireOf), next_cursor }) }
    }
  },
})

/** Fields of a record that filter the list. */
function fieldsOf(type: AnyRecord | undefined): readonly string[] {
  const { properties = {} } = (type?.schema ?? {}) as { readonly properties?: object }
  const ofLists = ['limit', 'cursor', 'sort', 'search']
  return ['source', ...Object.keys(properties)].filter((name) => !ofLists.includes(name))
}

function fits({ name, source, value }: RecordView, fields: readonly string[], list: ListQuery): boolean {
  if (!name.toLowerCase().includes(list.search)) return false
  return fields.every((field) => {
    const wanted = list.values(field)
    return wanted === undefined || wanted.includes(field === 'source' ? source : textOf(value, field))
  })
}

function textOf(value: JsonObject, name: string): string {
  const field = value[name]
  return typeof field === 'object' ? '' : String(field)
}
