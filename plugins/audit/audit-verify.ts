import { defineCommand } from '../../engine/index.ts'
import { columns, printJson } from '../../engine/kit.ts'

/** Verifies the audit trail, whether a gateway runs or not. Returns 1 if it is not whole. */
export default defineCommand({
  name: 'audit verify',
  summary: 'Verify that no row of the audit trail was changed, added or removed.',
  group: 'The audit trail: who changed what.',
  options: { type: 'object', additionalProperties: false, properties: {} } as const,
  uses: ['audit'],
  async run(_options, { audit }, { json, out, style }) {
    const verdict = await audit.verify()
    const { ok, rows, head, first_bad: flaw, checkpoints } = verdict
    if (json) out(printJson({ ...verdict }))
    else {
      out(ok ? style('green', 'The audit trail is whole.') : style('red', 'The audit trail was tampered with.'))
      const facts = [
        ['rows', `${rows}`],
        ['last row', head ? `${head.sequence}, hash ${head.hash}` : 'none'],
        ['checkpoints', `${checkpoints.read} read, ${checkpoints.bad} bad`],
        ...(flaw ? [['first flaw', `row ${flaw.sequence}: ${meanings[flaw.reason]} (${flaw.reason})`]] : []),
      ]
      out(columns(facts))
    }
    return ok ? 0 : 1
  },
})

const meanings = {
  hash_mismatch: 'it is not the row of which the hash was made',
  broken_link: 'it does not follow the row before it',
  missing_row: 'it is missing',
  column_mismatch: 'a column contradicts the body',
  unexpected_row: 'the gateway has not written it',
  tail_cut: 'it and all rows behind it are missing',
  checkpoint_mismatch: 'it contradicts a checkpoint, or a checkpoint is forged',
} as const
