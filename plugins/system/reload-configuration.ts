import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { Finding, Mistake } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'
import { configurationState } from './configuration-state.ts'

/** Most findings in an error. */
const most = 50

/**
 * Reads the files again, and returns the state of the configuration. Files with mistakes are refused;
 * without the database, none can be opened (503).
 */
export default defineStage({
  name: 'reload-configuration',
  summary: 'Read the configuration files again, and make them live.',
  config: noConfig,
  body: { type: 'object', additionalProperties: false, properties: {} } as const,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['processes'],
  build:
    (_config, host, { processes }) =>
    async ({ ingress: { query } }) => {
      readQuery(query)
      const findings = await host.running.reload()
      const [first] = findings
      if (first !== undefined && findings.every(({ code }) => code === 'unavailable'))
        throw new GatewayError('store_unavailable', {}, { message: storeAway(first) })
      if (first !== undefined)
        throw new GatewayError('invalid_configuration', { reason: sentence(first) }, { errors: mistakes(findings) })
      return { reply: jsonReply(await configurationState(host, processes)) }
    },
})

function mistakes(findings: readonly Finding[]): readonly Mistake[] {
  return findings.slice(0, most).map((finding) => ({ param: null, code: finding.code, message: sentence(finding) }))
}

function storeAway({ message }: Finding): string {
  return `The database cannot be used at the moment, so that the running configuration stays; try again shortly: ${message}`
}

function sentence({ file, line, column, message }: Finding): string {
  return `${file}:${line}:${column}: ${message}`
}
