import { definePlugin } from '../../engine/index.ts'
import { recordActions } from './record-actions.ts'
import { sectionActions } from './section-actions.ts'

export default definePlugin({
  name: 'records',
  summary: 'Actions that show and change records of every type, and sections of the settings.',
  stability: 'stable',
  actions: sectionActions,
  actionsOf: recordActions,
})
