import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ensemble } from '../../../plugins/classification/classify.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { copyPipelines } from '../../support/pipelines.ts'

/** The ensemble as a stage of the tests shows it. */
export interface Shown extends Omit<Ensemble, 'earlier'> {
  readonly earlier: readonly string[]
}

export interface Rig {
  readonly gateway: RunningGateway
  /** What `classify` makes of a body of chat completions, or of its messages. */
  classify(body: object, headers?: Record<string, string>, path?: string): Promise<Shown>
  close(): Promise<void>
}

/** A gateway with a route per protocol that only classifies, and answers with the ensemble. */
export async function classifying(
  classify = '{ signals: { metadata: 0.50, structural: 0.10 }, deadline: 10s }',
  settings: GatewaySettings = {},
): Promise<Rig> {
  const pipelines = await copyPipelines()
  for (const protocol of ['chat', 'messages', 'responses'])
    await writeFile(
      join(pipelines.folder, `judged-${protocol}.yaml`),
      `name: judged-${protocol}
summary: Classify only.
protocol: ${protocol}
routes: [POST /judged/${protocol}]
stages: [auth: { with: key }, parse, classify: ${classify}, acme-show]
`,
    )
  const gateway = await startGateway({
    pipelines: pipelines.folder,
    plugins: [join(import.meta.dirname, 'plugin.ts')],
    providers: [{ name: 'echo', type: 'echo' }],
    models: [
      { name: 'small', provider: 'echo', upstream_model: 'small', auto_eligible: true, quality_tier: 'economy' },
      { name: 'large', provider: 'echo', upstream_model: 'large', auto_eligible: true, quality_tier: 'premium' },
    ],
    server_config: { smart_routing: { enabled: true } },
    ...settings,
  })
  return {
    gateway,
    async classify(body, headers = {}, path = '/judged/chat') {
      const answer = await gateway.post(path, { model: 'auto', ...body }, headers)
      const shown = (await answer.json()) as Shown
      if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(shown)}`)
      return shown
    },
    async close() {
      await gateway.close()
      await pipelines.remove()
    },
  }
}

/** Messages of chat completions: the user and a model take turns. */
export function said(...texts: readonly string[]) {
  const messages = texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }))
  return { messages }
}
