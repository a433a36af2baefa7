import { definePlugin } from '../../engine/index.ts'
import getRequest from './get-request.ts'
import listRequests from './list-requests.ts'
import log from './log.ts'
import logs from './logs.ts'
import requests from './requests.ts'
import tailRequests from './tail-requests.ts'

export default definePlugin({
  name: 'request-log',
  summary: 'The log of all requests.',
  services: [requests],
  stages: [log, listRequests, getRequest, tailRequests],
  commands: [logs],
})
