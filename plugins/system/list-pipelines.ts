import { defineAction } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'
import { pipelineFields, pipelineWire } from './pipeline-reply.ts'

/** Answers every pipeline of the configuration, with its routes and who may call them. */
export default defineAction({
  name: 'list-pipelines',
  summary: 'Answer the pipelines of the configuration.',
  route: 'GET /api/config/pipelines',
  access: { role: 'admin' },
  answer: shape.all(shape.object(pipelineFields)),
  run: (_input, _services, _scope, { running }) => ({ data: running.pipelines.map(pipelineWire) }),
})
