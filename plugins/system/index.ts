import { definePlugin } from '../../engine/index.ts'
import getConfiguration from './get-configuration.ts'
import getOpenapi from './get-openapi.ts'
import getPipeline from './get-pipeline.ts'
import getSystem from './get-system.ts'
import listPipelines from './list-pipelines.ts'
import processes from './processes.ts'
import reloadConfiguration from './reload-configuration.ts'
import updates from './updates.ts'

export default definePlugin({
  name: 'system',
  summary: 'Shows what runs: processes, configuration, pipelines.',
  stability: 'stable',
  services: [processes, updates],
  actions: [getSystem, getConfiguration, reloadConfiguration, listPipelines, getPipeline, getOpenapi],
})
