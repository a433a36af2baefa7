import { definePlugin } from '../../engine/index.ts'
import serveAsset from './serve-asset.ts'
import servePage from './serve-page.ts'

export default definePlugin({
  name: 'console',
  summary: 'Serves the console.',
  stages: [servePage, serveAsset],
})
