import { definePlugin } from '../../engine/index.ts'
import members from './members.ts'

export default definePlugin({
  name: 'members',
  summary: 'The people who may sign in, and their sessions.',
  services: [members],
})
