import { defineAction } from '../../engine/index.ts'
import { configurationState, stateShape } from './configuration-state.ts'

/** Answers the state of the running configuration: its files, why newer ones were refused, who runs it. */
export default defineAction({
  name: 'get-configuration',
  summary: 'Answer the state of the running configuration.',
  route: 'GET /api/config/status',
  access: { role: 'admin' },
  answer: stateShape,
  uses: ['processes'],
  run: (_input, { processes }, _scope, host) => configurationState(host, processes),
})
