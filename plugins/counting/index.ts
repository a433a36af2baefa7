import { definePlugin } from '../../engine/index.ts'
import estimateTokens from './estimate-tokens.ts'
import tokens from './tokens.ts'

export default definePlugin({
  name: 'counting',
  summary: 'How many tokens requests and answers are.',
  stages: [estimateTokens],
  services: [tokens],
})
