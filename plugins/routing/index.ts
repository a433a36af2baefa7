import { definePlugin } from '../../engine/index.ts'
import pin from './pin.ts'
import require from './require.ts'
import resolve from './resolve.ts'

export default definePlugin({
  name: 'routing',
  summary: 'Turns the requested model name into candidates.',
  stages: [resolve, require, pin],
})
