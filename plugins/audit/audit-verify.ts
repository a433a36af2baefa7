import { defineCommand } from '../../engine/index.ts'
import { columns, printJson } from '../../engine/kit.ts'
import { whyUnproven } from './verify.ts'
import type { Flaw, Reason } from './verify.ts'

/**
 * Verifies the audit trail, whether a gateway runs or not. Returns 1 if it was tampered with, 2 if nothing proves that it
 * was not.
 */
export default defineCommand({
  name: 'audit verify',
  summary: 'Verify that no row of the audit trail was changed, added or removed.',
  group: 'The audit trail: who changed what.',
  options: { type: 'object', additionalProperties: false, properties: {} } as const,
  uses: ['audit'],
  async run(_options, { audit }, { json, out, style }) {
    const verdict = await audit.verify()
    const { rows, head, first_bad: flaw, checkpoints } = verdict
    if (json) out(printJson({ ...verdict }))
    else {
      out(flaw ? style('red', headlines[whyUnproven(flaw) ?? 'tampered']) : style('green', 'The audit trail is whole.'))
      const facts = [
        ['rows', `${rows}`],
        ['last row', head ? `${head.sequence}, hash ${head.hash}` : 'none'],
        ['checkpoints', `${checkpoints.read} read, ${checkpoints.bad} bad`],
        ...(flaw ? [factOf(flaw)] : []),
      ]
      out(columns(facts))
    }
    if (flaw === null) return 0
    return whyUnproven(flaw) ? 2 : 1
  },
})

function factOf(flaw: Flaw): readonly [string, string] {
  const { sequence, reason } = flaw
  const meaning = `${meanings[reason]} (${reason})`
  return whyUnproven(flaw) ? ['not proven', meaning] : ['first flaw', `row ${sequence}: ${meaning}`]
}

const headlines = {
  tampered: 'The audit trail was tampered with.',
  wrong_secret: 'The audit trail cannot be verified: this is not the master secret that signed it.',
  unproven_tail: 'The rows fit, but nothing proves that none is missing at the end.',
} as const

const meanings = {
  hash_mismatch: 'it is not the row of which the hash was made',
  broken_link: 'it does not follow the row before it',
  missing_row: 'it is missing',
  column_mismatch: 'a column contradicts the body',
  unexpected_row: 'the gateway has not written it',
  tail_cut: 'it and all rows behind it are missing',
  checkpoint_mismatch: 'it contradicts a checkpoint, or a checkpoint is forged',
  wrong_secret: 'no signature is of this secret; set SLUICE_SECRET as for the gateway',
  unproven_tail: 'the file audit.checkpoints is missing or does not reach the last row',
} as const satisfies Readonly<Record<Reason, string>>
