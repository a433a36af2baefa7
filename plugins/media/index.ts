import { definePlugin } from '../../engine/index.ts'
import heldFiles from './held-files.ts'
import svgModel from './svg-model.ts'

/** What requests for images need beyond their codecs. */
export default definePlugin({
  name: 'media',
  summary: 'Requests for images that name a second model, or files at a provider.',
  stability: 'stable',
  stages: [svgModel, heldFiles],
})
