import { defineService } from '../../engine/index.ts'
import { Labels } from './labels.ts'
import { Prompts, contextOf } from './prompts.ts'
import type { RoutedPrompt } from './prompts.ts'
import { migrations } from './table.ts'
import type { LabelsTable } from './table.ts'

/** What is kept of routed requests beside their rows: how they were rated, and the texts that they were routed by. */
export interface RoutingRecords {
  /** Keeps the text that a request was routed by, sealed, if the settings want it. Never waits, never throws. */
  keep(prompt: RoutedPrompt): void
  /** The rating of a request. */
  label(id: string): Promise<LabelsTable | undefined>
  /** For the stages of this plugin. */
  readonly labels: Labels
  readonly prompts: Prompts
}

declare module '../../engine/index.ts' {
  interface Services {
    routing_records: RoutingRecords
  }
}

const hour = 3_600_000

/** One process deletes old texts at a time, and not twice within the hour. */
const lease = 'routing_records.expire'
const leased = hour - 60_000

export default defineService({
  name: 'routing_records',
  summary: 'Ratings of routed requests, and the texts that they were routed by.',
  migrations,
  seals: [{ table: 'routing_records_prompts', key: 'id', column: 'sealed', context: contextOf }],
  uses: ['requests', 'smart_routing'],
  open(host) {
    const labels = new Labels(host)
    const prompts = new Prompts(host)
    const expire = async () => {
      try {
        const taken = await host.keyValue.set(lease, Buffer.from('1'), { ttl: leased, version: null })
        if (taken) await prompts.expire(Date.now())
      } catch (error) {
        host.log.warn({ err: error }, 'old prompts cannot be deleted; trying again')
      }
    }
    const expiring = setInterval(() => void expire(), hour).unref()
    return {
      configure(_settings, { requests, smart_routing: { settings } }) {
        requests.accompany('routing_records_labels')
        requests.accompany('routing_records_prompts')
        const view: RoutingRecords = {
          keep(prompt) {
            if (settings.keep_prompts) prompts.keep(prompt)
          },
          label: (id) => labels.find(id),
          labels,
          prompts,
        }
        return { view }
      },
      close: () => clearInterval(expiring),
    }
  },
})
