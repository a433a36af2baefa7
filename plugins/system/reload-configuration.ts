import { GatewayError, defineAction } from '../../engine/index.ts'
import type { Finding, Mistake } from '../../engine/index.ts'
import { configurationState, stateShape } from './configuration-state.ts'

/** Most findings in an error. */
const most = 50

/**
 * Reads the files again, and returns the state of the configuration. Files with mistakes are refused;
 * without the database, none can be opened (503).
 */
export default defineAction({
  name: 'reload-configuration',
  summary: 'Read the configuration files again, and make them live.',
  route: 'POST /api/config/reload',
  access: { role: 'admin' },
  body: { type: 'object', additionalProperties: false, properties: {} },
  answer: stateShape,
  errors: ['invalid_configuration'],
  writes: 'own audit row',
  uses: ['processes'],
  async run(_input, { processes }, _scope, host) {
    const findings = await host.running.reload()
    const [first] = findings
    if (first !== undefined && findings.every(({ code }) => code === 'unavailable'))
      throw new GatewayError('store_unavailable', {}, { message: storeAway(first) })
    if (first !== undefined)
      throw new GatewayError('invalid_configuration', { reason: sentence(first) }, { errors: mistakes(findings) })
    return configurationState(host, processes)
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
