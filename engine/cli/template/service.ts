import { pluginsLine } from './stage.ts'
import type { Template } from './stage.ts'

/** A service that counts in memory, and a stage that uses it. */
export function serviceTemplate(name: string): Template {
  // Tables and sections are called like the service.
  const word = name.replaceAll('-', '_')
  return {
    text: `import { GatewayError, definePlugin, defineService, defineStage, noConfig } from 'sluice'

/** What stages see of the service. */
interface View {
  /** Takes a place for an API key; false: none is free. */
  take(id: string): boolean
  giveBack(id: string): void
}

declare module 'sluice' {
  interface Services {
    ${word}: View
  }
}

/** Counts the requests of each API key that are under way. Put what your stages share in its place. */
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
  // Runs once in a process: what must outlive a reload stands here. Tables are made by "migrations: [...]".
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
  // What "settle" is given beside the slots above. A stage that gives nothing back leaves this out.
  settles: ['outcome'],
  // The service is here to be kept: it can be called only while a request runs.
  build:
    (_config, _host, { ${word}: shared }) =>
    ({ principal }, _scope, settle) => {
      if (!shared.take(principal.id)) throw new GatewayError('rate_limit_exceeded')
      // Whatever becomes of the request, this runs once when it has ended.
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
