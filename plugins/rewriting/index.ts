import { definePlugin } from '../../engine/index.ts'
import prompt from './prompt.ts'
import set from './set.ts'

export default definePlugin({
  name: 'rewriting',
  summary: 'What an operator changes in requests.',
  stages: [set, prompt],
})
