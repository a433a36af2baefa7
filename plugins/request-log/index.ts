import { definePlugin } from '../../engine/index.ts'
import log from './log.ts'
import logs from './logs.ts'
import requests from './requests.ts'

export default definePlugin({
  name: 'request-log',
  summary: 'The log of all requests.',
  services: [requests],
  stages: [log],
  commands: [logs],
})
