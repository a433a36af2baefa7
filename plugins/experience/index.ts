import { definePlugin } from '../../engine/index.ts'
import experience from './experience.ts'
import resetExperience from './reset-experience.ts'

export default definePlugin({
  name: 'experience',
  summary: 'What the gateway has learned of the models that it chooses among.',
  stability: 'stable',
  services: [experience],
  actions: [resetExperience],
})
