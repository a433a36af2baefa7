import { definePlugin } from '../../engine/index.ts'
import listNotifications from './list-notifications.ts'
import notifications from './notifications.ts'
import testNotifications from './test-notifications.ts'

export default definePlugin({
  name: 'notifications',
  summary: 'Tells people what is wrong.',
  stability: 'stable',
  services: [notifications],
  actions: [listNotifications, testNotifications],
})
