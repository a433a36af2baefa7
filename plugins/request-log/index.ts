import { definePlugin } from '../../engine/index.ts'
import errors from './error-codes.ts'
import cleanRequests from './clean-requests.ts'
import getKeyUsage from './get-key-usage.ts'
import getRequest from './get-request.ts'
import getSeries from './get-series.ts'
import getSpend from './get-spend.ts'
import getStats from './get-stats.ts'
import getUsage from './get-usage.ts'
import listRequests from './list-requests.ts'
import log from './log.ts'
import logs from './logs.ts'
import requests from './requests.ts'
import tailRequests from './tail-requests.ts'

export default definePlugin({
  name: 'request-log',
  summary: 'The log of all requests.',
  stability: 'stable',
  errors,
  services: [requests],
  stages: [log],
  actions: [
    listRequests,
    getRequest,
    tailRequests,
    cleanRequests,
    getStats,
    getUsage,
    getSeries,
    getKeyUsage,
    getSpend,
  ],
  commands: [logs],
})
