import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, negated, readList } from '../../engine/kit.ts'
import type { Query } from '../../engine/kit.ts'
import { shownRow } from './find-rows.ts'
import type { AuditValues } from './find-rows.ts'

/** The query parameters whose values can be left out, too. */
const leavable = { actor: 'text', action: 'text', target: 'text', outcome: ['ok', 'refused'] } as const

/** Returns the rows of the audit trail that match the query, page by page, the latest first. */
export default defineStage({
  name: 'list-audit',
  summary: 'Return rows of the audit trail.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['audit'],
  build:
    (_config, _host, { audit }) =>
    async ({ ingress }) => {
      const list = readList(ingress.query, {
        filters: { ...leavable, ...negated(leavable), since: 'time', until: 'time', sequence: 'number' },
        sorts: ['sequence'],
        usualSort: '-sequence',
      })
      const filter = {
        since: list.time('since'),
        until: list.time('until'),
        wanted: valuesIn((name) => list.values(name)),
        unwanted: valuesIn((name) => list.leftOut(name)),
        sequence: list.number('sequence'),
      }
      const { isDescending, limit } = list
      const [after] = list.after ?? []
      if (after !== undefined && !isSequence(after)) throw new GatewayError('invalid_cursor', { param: 'cursor' })
      if (filter.sequence !== undefined && !isSequence(filter.sequence))
        throw new GatewayError('invalid_field', { param: 'sequence', reason: 'must be the number of a row' })
      const rows = await audit.find(filter, {
        isDescending,
        limit: limit + 1,
        ...(typeof after === 'number' && { after }),
      })
      const { data, next_cursor } = list.onePage(rows, ({ sequence }) => [sequence, ''])
      return { reply: jsonReply({ data: data.map(shownRow), next_cursor }) }
    },
})

function valuesIn(valuesOf: Query['values']): AuditValues {
  const [actors, actions, targets, outcomes] = ['actor', 'action', 'target', 'outcome'].map(valuesOf)
  return { actors, actions, targets, outcomes }
}

/** PostgreSQL rejects what is no 32-bit number. */
const isSequence = (value: unknown): boolean => value === Number(value) >> 0
