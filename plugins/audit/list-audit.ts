import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readList } from '../../engine/kit.ts'
import { shownRow } from './find-rows.ts'

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
        filters: {
          since: 'time',
          until: 'time',
          actor: 'text',
          action: 'text',
          target: 'text',
          outcome: ['ok', 'refused'],
          sequence: 'number',
        },
        sorts: ['sequence'],
        usualSort: '-sequence',
      })
      const filter = {
        since: list.time('since'),
        until: list.time('until'),
        actors: list.values('actor'),
        actions: list.values('action'),
        targets: list.values('target'),
        outcomes: list.values('outcome'),
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

/** PostgreSQL rejects what is no 32-bit number. */
const isSequence = (value: unknown): boolean => value === Number(value) >> 0
