import { GatewayError, defineAction } from '../../engine/index.ts'
import { momentIn, shape, timeText } from '../../engine/kit.ts'

/** Deletes old requests from the log, or only their bodies. Budgets, sums and the audit log stay. */
export default defineAction({
  name: 'clean-requests',
  summary: 'Delete old requests from the log.',
  route: 'POST /api/logs/cleanup',
  access: { role: 'admin' },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['before'],
    properties: {
      before: {
        type: 'string',
        title: 'Before',
        examples: ['2026-01-31T12:00:00Z'],
        description: 'Only requests that began before this time (RFC 3339), at least a minute ago.',
      },
      types: {
        type: 'array',
        title: 'Types',
        maxItems: 100,
        items: {
          type: 'string',
          minLength: 1,
          pattern: '^[\\w-]+$',
          patternErrorMessage: 'must be the type of a request',
        },
        description: 'Only requests of these types; absent: of all.',
      },
      captures_only: {
        type: 'boolean',
        title: 'Bodies only',
        default: false,
        description: 'Whether only captured bodies are deleted.',
      },
      dry_run: {
        type: 'boolean',
        title: 'Count only',
        default: false,
        description: 'Whether to count without deleting.',
      },
    },
  },
  answer: shape.object({
    rows: shape.integer('Number of requests.'),
    captures: shape.integer('Number of captured bodies.'),
  }),
  writes: 'own audit row',
  uses: ['requests', 'audit'],
  // A large log is deleted in small parts.
  timeout: '1h',
  async run({ body, by }, { requests, audit }) {
    const { types, captures_only: capturesOnly, dry_run: isDry } = body
    const before = momentIn(body.before)
    if (before === undefined || before > Date.now() - recent)
      throw new GatewayError('invalid_field', { param: 'before', reason: 'must be a time at least one minute ago' })
    const cleanup = { before, types, capturesOnly }
    const counted = await requests.countOld(cleanup)
    if (isDry || counted.rows + counted.captures === 0) return counted
    // Without a row in the audit log, nothing is deleted.
    await audit.record({
      action: 'logs.cleanup',
      by,
      details: { before: timeText(before), ...(types && { types }), captures_only: capturesOnly, ...counted },
    })
    return requests.deleteOld(cleanup)
  },
})

/** Milliseconds: rows of requests that still run, or were just written, stay. */
const recent = 60_000
