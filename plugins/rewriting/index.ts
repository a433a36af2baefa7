import { definePlugin } from '../../engine/index.ts'
import errors from './error-codes.ts'
import applyPolicy from './apply-policy.ts'
import parameters from './parameters.ts'
import prompt from './prompt.ts'
import set from './set.ts'

export default definePlugin({
  name: 'rewriting',
  summary: 'Changes the fields and instructions of requests.',
  stability: 'stable',
  errors,
  services: [parameters],
  stages: [applyPolicy, set, prompt],
})
