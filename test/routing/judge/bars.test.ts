import { expect } from 'chai'
import { decides, startJudged } from './rig.ts'
import type { JudgeChange, Judged } from './rig.ts'

describe('bars of the judge', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => (judged = await startJudged()))
  after(() => judged.close())
  const cases: readonly (readonly [string, JudgeChange, ReturnType<typeof decides>, string])[] = [
    ['the mass reaches', { apply_min_confidence: 0.7 }, decides('MEDIUM', [0.3, 0.7, 0]), 'judge=MEDIUM'],
    [
      'the mass does not reach',
      { apply_min_confidence: 0.7 },
      decides('MEDIUM', [0.52, 0.48, 0]),
      'judge-held=MEDIUM(0.48)',
    ],
    [
      'the escalation reaches, not the mass',
      { apply_min_confidence: 0.9, apply_min_escalation: 0.4 },
      decides('COMPLEX', [0.2, 0.3, 0.5]),
      'judge=COMPLEX',
    ],
    [
      'neither reaches',
      { apply_min_confidence: 0.9, apply_min_escalation: 0.6 },
      decides('COMPLEX', [0.2, 0.3, 0.5]),
      'judge-held=COMPLEX(0.50)',
    ],
    [
      'has no probabilities for',
      { apply_min_confidence: 0.1, apply_min_escalation: 0.1 },
      decides('MEDIUM'),
      'judge-held=MEDIUM',
    ],
    [
      'the confidence reaches where probabilities are missing',
      { apply_min_confidence: 0.7 },
      decides('MEDIUM', undefined, 0.8),
      'judge=MEDIUM',
    ],
    [
      'the confidence does not reach where probabilities are missing',
      { apply_min_confidence: 0.9 },
      decides('MEDIUM', undefined, 0.8),
      'judge-held=MEDIUM(0.80)',
    ],
  ]
  for (const [what, judge, script, note] of cases)
    it(`that ${what}: ${note}`, async () => {
      await judged.begin(judge)
      judged.judge.answer(script)
      await judged.ask()
      const isHeld = note.startsWith('judge-held')
      const { tier, notes, block } = await judged.told()
      expect(notes).to.deep.equal([note])
      expect(tier).to.equal(isHeld ? null : note.slice('judge='.length))
      expect(block).to.deep.include({ applied: !isHeld, held: isHeld })
    })
})
