import { definePlugin } from '../../engine/index.ts'
import prompt from './prompt.ts'
import set from './set.ts'

export default definePlugin({
  name: 'rewriting',
  summary: 'Changes the fields and instructions of requests.',
  stages: [set, prompt],
})
