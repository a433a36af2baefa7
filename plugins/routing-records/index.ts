import { definePlugin, defineSlot } from '../../engine/index.ts'
import errors from './error-codes.ts'
import exportDataset from './export-dataset.ts'
import { giveFeedback } from './give-feedback.ts'
import listDecisions from './list-decisions.ts'
import listFeedback from './list-feedback.ts'
import previewRouting from './preview-routing.ts'
import replayRouting from './replay-routing.ts'
import route from './route.ts'
import routingRecords from './routing-records.ts'

export default definePlugin({
  name: 'routing-records',
  summary: 'What is learned from routed requests, and shown of them: ratings, exports, previews.',
  stability: 'stable',
  errors,
  slots: [defineSlot({ name: 'preview', summary: 'How a request is routed that is not served.' })],
  services: [routingRecords],
  actions: [
    previewRouting,
    replayRouting,
    listDecisions,
    exportDataset,
    listFeedback,
    giveFeedback('give-feedback', 'POST /api/me/feedback', { role: 'any' }),
    giveFeedback('rate-request', 'POST /v1/feedback', { key: true }),
  ],
  commands: [route],
})
