import { definePlugin } from '../../engine/index.ts'
import listPages from './list-pages.ts'
import serveAsset from './serve-asset.ts'
import servePage from './serve-page.ts'

export default definePlugin({
  name: 'console',
  summary: 'Serves the console, and tells it which pages plugins bring.',
  stability: 'stable',
  stages: [servePage, serveAsset],
  actions: [listPages],
})
