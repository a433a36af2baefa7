import { defineAction } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'

const rowAt = (what: string) => shape.integer(`Number of the ${what}.`)

/** JSON Schema of a verdict. */
export const verdict = shape.object({
  ok: shape.flag('Whether the trail is whole.'),
  rows: shape.integer('Number of rows.'),
  head: shape.orNull(
    shape.object({ sequence: rowAt('last row'), hash: shape.text('Its hash, in hex.') }, {}, 'The last row.'),
  ),
  first_bad: shape.orNull(
    shape.object({ sequence: rowAt('bad row'), reason: shape.text('What is wrong with it.') }, {}, 'The first flaw.'),
  ),
  checkpoints: shape.object(
    { read: shape.integer('Those that were compared.'), bad: shape.integer('Those that contradict the rows.') },
    {},
    'Checkpoints.',
  ),
  took_ms: shape.number('How long it took, in milliseconds.'),
})

/** Verifies the whole audit trail. Flaws are part of the answer, which is always 200. */
export default defineAction({
  name: 'verify-audit',
  summary: 'Verify that no row of the audit trail was changed, added or removed.',
  route: 'GET /api/logs/audit/verify',
  access: { role: 'admin' },
  answer: verdict,
  timeout: '10m',
  uses: ['audit'],
  run: (_input, { audit }) => audit.verify(),
})
