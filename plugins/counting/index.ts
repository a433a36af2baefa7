import { definePlugin } from '../../engine/index.ts'
import estimateTokens from './estimate-tokens.ts'
import tokens from './tokens.ts'

export default definePlugin({
  name: 'counting',
  summary: 'Counts and estimates the tokens of requests and answers.',
  stability: 'stable',
  stages: [estimateTokens],
  services: [tokens],
})
