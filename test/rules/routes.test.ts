import { expect } from 'chai'
import { stagesOf } from '../../engine/pipeline/nodes.ts'
import type { Pipeline } from '../../engine/pipeline/nodes.ts'
import { configuration } from './registry.ts'

/**
 * Every shipped route by who may ask it: what the client has to show, and the role it has at least. Those of clients' base
 * addresses are below `/v1`, `/v1/v1` and `/` alike.
 */
const access: Readonly<Record<string, readonly string[]>> = {
  public: ['GET /api/health', 'GET /api/health/live', 'GET /api/health/ready'],
  key: [
    'DELETE /responses/:response_id',
    'GET /models',
    'GET /models/:model',
    'GET /protocols',
    'GET /responses/:response_id',
    'GET /responses/:response_id/input_items',
    'POST /audio/speech',
    'POST /audio/transcriptions',
    'POST /audio/translations',
    'POST /chat/completions',
    'POST /decisions',
    'POST /embeddings',
    'POST /images/edits',
    'POST /images/generations',
    'POST /mapeval',
    'POST /messages',
    'POST /messages/count_tokens',
    'POST /responses',
    'POST /responses/:response_id/cancel',
    'POST /responses/compact',
    'POST /responses/input_tokens',
    'WS /responses',
  ],
}

/** What the first stage that finds out who asks wants to see. */
function accessOf({ public: open, stages }: Pipeline, byName: ReadonlyMap<string, Pipeline>): string {
  if (open) return 'public'
  const asking = stagesOf(stages, byName).find(({ stage }) => stage.provides.includes('principal'))
  const { with: shows, role } = asking?.config ?? {}
  if (typeof shows !== 'string') return `by ${asking?.stage.name}`
  return typeof role === 'string' ? `${shows} ${role}` : shows
}

describe('routes', () => {
  it('are asked by those who may', async () => {
    const { pipelines } = await configuration()
    const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
    const found: Record<string, Set<string>> = {}
    for (const pipeline of pipelines)
      for (const { method, path } of pipeline.routes)
        (found[accessOf(pipeline, byName)] ??= new Set()).add(`${method} ${path.replace(/^(\/v1){1,2}(?=\/)/, '')}`)
    const sorted = Object.entries(found).map(([who, routes]) => [who, [...routes].sort()])
    expect(Object.fromEntries(sorted)).to.deep.equal(access)
  })
})
