import { pluginsLine } from './stage.ts'
import type { Template } from './stage.ts'

/** A service that counts in memory, and a stage that uses it. */
export function serviceTemplate(name: string): Template {
  // Tables and sections are called like the service.
  const word = name.replaceAll('-', '_')
  return {
    text: `import { GatewayError, definePlugin, defineService, defineStage, noConfig } from 'sluice'

/** The view that stages get of the service. */
interface View {
  /** Counts a request of an API key. Returns false when the key has too many. */
  take(id: string): boolean
  giveBack(id: string): void
}

declare module 'sluice' {
  interface Services {
    ${word}: View
  }
}

/** Counts the running requests of each API key. Replace it with the state that your stages share. */
const service = defineService({
  name: '${word}',
  summary: 'How many requests each API key has under way.',
  // JSON Schema of its section, "server_config.${word}": it gives the TypeScript type, the defaults and the docs.
  settings: {
    type: 'object',
    additionalProperties: false,
    description: 'How many requests an API key may have under way.',
    properties: {
      requests: { type: 'integer', minimum: 1, default: 10, description: 'Requests of one key at a time.' },
    },
  } as const,
  // Runs once per process: state that outlives a reload belongs here. "migrations: [...]" creates tables.
  open({ log }) {
    const underWay = new Map<string, number>()
    return {
      // Runs for each configuration. Others are still in use, so it changes nothing that they see.
      configure({ requests }) {
        const view: View = {
          take(id) {
            const count = underWay.get(id) ?? 0
            if (count >= requests) return false
            underWay.set(id, count + 1)
            return true
          },
          giveBack(id) {
            const count = underWay.get(id) ?? 0
            if (count > 1) underWay.set(id, count - 1)
            else underWay.delete(id)
          },
        }
        return { view, live: () => log.debug({ requests }, '${word} is live') }
      },
    }
  },
})

const limit = defineStage({
  name: '${name}-limit',
  summary: 'Refuse API keys that have too many requests under way.',
  config: noConfig,
  uses: ['${word}'],
  needs: ['principal'],
  provides: [],
  // Further slots for "settle". A stage that has nothing to release leaves this out.
  settles: ['outcome'],
  // The service may be kept here, but must be called only while a request runs.
  build:
    (_config, _host, { ${word}: shared }) =>
    ({ principal }, _scope, settle) => {
      if (!shared.take(principal.id)) throw new GatewayError('rate_limit_exceeded')
      // Runs exactly once at the end of the request, however it ended.
      settle(() => shared.giveBack(principal.id))
      return {}
    },
})

export default definePlugin({
  name: '${name}',
  summary: 'Limits the requests that an API key has under way.',
  services: [service],
  stages: [limit],
})
`,
    next: (
      entry,
    ) => `Next: put its stage into a pipeline, behind "auth"${entry === undefined ? '' : ', and its file into the configuration'},

${entry === undefined ? '' : `${pluginsLine(entry)}\n`}  stages:
    - auth
    - ${name}-limit

say in the configuration what it allows,

  server_config:
    ${word}: { requests: 2 }

then look at it:

  sluice check
  sluice list services ${word}`,
  }
}
