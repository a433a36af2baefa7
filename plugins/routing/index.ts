import { definePlugin } from '../../engine/index.ts'
import pin from './pin.ts'
import require from './require.ts'
import resolve from './resolve.ts'

export default definePlugin({
  name: 'routing',
  summary: 'From the requested model name to the candidates that can serve it.',
  stages: [resolve, require, pin],
})
