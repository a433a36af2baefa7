import { definePlugin, defineStage } from '../../../engine/index.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { tierOf } from '../../../engine/kit.ts'
import { factsOf } from '../../../plugins/classification/facts.ts'
import { earlierTexts, lastTurn } from '../../../plugins/classification/turn.ts'

/** Takes the complexity from the last text of the user, such as `complexity 0.41`, and a benefit if it names one. */
const classify = defineStage({
  name: 'classify',
  summary: 'Take the complexity from the text.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      signals: { type: 'object', default: {}, description: 'Ignored.' },
      deadline: { type: 'string', default: '', description: 'Ignored.' },
    },
  } as const,
  needs: ['request'],
  provides: ['ensemble'],
  build:
    () =>
    ({ request }) => {
      const neutral = request.neutral('generate')
      const turn = lastTurn(neutral)
      const facts: JsonObject = { ...factsOf(request, neutral, turn) }
      const complexity = Number(/complexity (\d(\.\d+)?)/.exec(turn.text)?.[1] ?? 0.5)
      const benefit = /benefit (\d(\.\d+)?)/.exec(turn.text)?.[1]
      return {
        ensemble: {
          complexity,
          ...(benefit === undefined ? {} : { benefit: Number(benefit) }),
          tier: tierOf(complexity),
          confidence: 0.8,
          confidenceRaw: 0.7,
          map: 'dev-1',
          weightsVersion: 's-1',
          votes: { structural: { complexity, confidence: 0.9, weight: 0.1, share: 1, reasons: ['given'] } },
          notes: [`structural=${complexity}`],
          facts,
          features: [0.25],
          ask: turn.text,
          earlier: (count: number) => earlierTexts(neutral, count),
        },
      }
    },
})

export default definePlugin({ name: 'fixed-classify', summary: 'A fixed complexity.', stages: [classify] })
