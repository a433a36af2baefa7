import { definePlugin, defineSlot } from '../../engine/index.ts'
import getJudgeAgreement from './get-judge-agreement.ts'
import judge from './judge.ts'
import judging from './judging.ts'
import priceJudge from './price-judge.ts'
import readVerdict from './read-verdict.ts'

export default definePlugin({
  name: 'judge',
  summary: 'A model that is asked how difficult a request is.',
  stability: 'stable',
  slots: [
    defineSlot({ name: 'consultation', summary: 'Why the judge is asked.' }),
    defineSlot({ name: 'judgement', summary: 'What the judge has said, and what that has cost.' }),
    defineSlot({ name: 'verdict', summary: 'What comes of the judge for a request.' }),
  ],
  services: [judging],
  stages: [judge, priceJudge, readVerdict],
  actions: [getJudgeAgreement],
})
