import { definePlugin } from '../../engine/index.ts'
import log from './log.ts'
import logs from './logs/logs.ts'
import price from '../pricing/price.ts'
import requests from './requests/requests.ts'

export default definePlugin({
  name: 'records',
  summary: 'What is remembered of every exchange.',
  services: [requests],
  stages: [price, log],
  commands: [logs],
})
