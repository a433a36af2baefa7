import { GatewayError, defineAction } from '../../engine/index.ts'
import { listOf, negated, pageOf, shape } from '../../engine/kit.ts'
import type { Query } from '../../engine/kit.ts'
import { shownRow } from './find-rows.ts'
import type { AuditValues } from './find-rows.ts'

/** The query parameters whose values can be left out, too. */
const leavable = {
  actor: { type: 'string', description: 'Id of who did it.' },
  action: { type: 'string', description: 'What was done, such as provider.update.' },
  target: { type: 'string', description: 'Id or name of what it was done to.' },
  outcome: { enum: ['ok', 'refused'], description: 'Whether it was done.' },
} as const

const time = (description: string) => ({ type: 'string', format: 'date-time', description }) as const

const idAndName = {
  id: shape.orNull(shape.text('Its id.')),
  name: shape.orNull(shape.text('Its name.')),
}

/** Of a damaged row, only what every row has. */
const row = shape.object(
  {
    sequence: shape.integer('Its number, from 1.'),
    action: shape.text('What was done, such as provider.update.'),
    outcome: shape.word(['ok', 'refused'], 'Whether it was done.'),
    previous: shape.text('Hash of the row before, in hex.'),
    hash: shape.text('Hash of the row, in hex.'),
  },
  {
    at: shape.time('When.'),
    actor: shape.object(
      { type: shape.word(['member', 'cli', 'system', 'anonymous'], 'What it is.'), ...idAndName },
      {},
      'Who did it.',
    ),
    address: shape.orNull(shape.text('The IP address of the client.')),
    request_id: shape.orNull(shape.text('The id of the request.')),
    target: shape.orNull(shape.object({ type: shape.text('What it is.'), ...idAndName }, {}, 'What it was done to.')),
    changes: shape.map(
      shape.object({ from: shape.json('The value before.'), to: shape.json('The value after.') }),
      'The fields that were changed.',
    ),
    details: shape.map({}, 'Further facts.'),
  },
)

/** Answers the rows of the audit trail that match the query, page by page, the latest first. */
export default defineAction({
  name: 'list-audit',
  summary: 'Answer a page of the audit trail: who changed what.',
  route: 'GET /api/logs/audit',
  access: { role: 'admin' },
  query: listOf({
    filters: {
      ...leavable,
      ...negated(leavable),
      since: time('Earliest time.'),
      until: time('Latest time, excluded.'),
      sequence: { type: 'integer', description: 'The number of one row.' },
    },
    sorts: ['sequence'],
    usual: '-sequence',
  }),
  answer: pageOf(row),
  errors: ['invalid_cursor'],
  uses: ['audit'],
  async run({ query: list }, { audit }) {
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
    return { data: data.map(shownRow), next_cursor }
  },
})

function valuesIn(valuesOf: Query['values']): AuditValues {
  const [actors, actions, targets, outcomes] = ['actor', 'action', 'target', 'outcome'].map(valuesOf)
  return { actors, actions, targets, outcomes }
}

/** PostgreSQL rejects what is no 32-bit number. */
const isSequence = (value: unknown): boolean => value === Number(value) >> 0
