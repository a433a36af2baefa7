import { definePlugin, defineSignal, defineSlot } from '../../engine/index.ts'
import { moduleBeside } from '../../engine/kit.ts'
import calibrate from './calibrate.ts'
import calibration from './calibration.ts'
import classify from './classify.ts'
import signals from './signals.ts'

export default definePlugin({
  name: 'classification',
  summary: 'Judges how hard a request is.',
  stability: 'stable',
  slots: [
    defineSlot({
      name: 'ensemble',
      summary: 'How hard the request is.',
      fields: {
        complexity: 'number',
        benefit: 'number',
        tier: 'text',
        confidence: 'number',
        confidenceRaw: 'number',
        facts: 'anything',
      },
    }),
  ],
  signals: [
    defineSignal({
      name: 'metadata',
      summary: 'What happened since the last turn of the user, and what the request asks for explicitly.',
      module: moduleBeside('metadata', import.meta.url),
      // It counts facts, and reads no text.
      quick: Infinity,
    }),
    defineSignal({
      name: 'structural',
      summary:
        'The text of the last user turn: the probability that a model of the class economy fails, and what a dear one gains.',
      module: moduleBeside('structural', import.meta.url),
      quick: 2_000,
    }),
  ],
  services: [calibration, signals],
  stages: [classify],
  commands: [calibrate],
})
