import { expect } from 'chai'
import { exampleSettings } from '../../../engine/cli/editor-example.ts'
import { assemble } from '../../../engine/components/assemble.ts'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { loadSettings } from '../../../engine/records/load-settings.ts'
import { readSource } from '../../../engine/config/source.ts'
import { settingsSchema } from '../../../engine/cli/editor-schemas.ts'
import { secretsOf } from '../../../engine/records/secrets.ts'
import { sectionsSchema, settingsOf } from '../../../engine/records/sections.ts'
import { referencePages } from '../../../engine/cli/reference/pages.ts'
import { makeProgram } from '../../../engine/cli/program.ts'
import catalog from '../../support/catalog-records.ts'

const field = (description: string, more: object = {}) => ({ type: 'string', default: 'usual', description, ...more })

const service = (name: string, section: string, properties: object, more: object = {}) => ({
  kind: 'service',
  name,
  summary: 's.',
  section,
  uses: [],
  migrations: [],
  settings: { type: 'object', additionalProperties: false, description: `The part of ${name}.`, properties },
  ...more,
})

const { registry, diagnostics } = assemble(
  [
    ...(catalog.records ?? []),
    service('budgets', 'limits', { token: field('A token.') }, { secrets: ['token'] }),
    service('rates', 'limits', { rate: field('A rate.'), hook: field('An address.') }),
    service('levels', 'logging', { detail: field('How much.') }),
  ].map((value) => ({ value, from: 'here' })),
)

describe('sections of services', () => {
  it('are one closed section for editors, for each name', () => {
    expect(diagnostics).to.deep.equal([])
    const sections = sectionsSchema(registry.services).properties as unknown as Record<string, Record<string, object>>
    expect(sections['limits']).to.deep.include({
      additionalProperties: false,
      default: {},
      description: 'The part of budgets. The part of rates.',
    })
    expect(Object.keys(sections['limits']?.['properties'] ?? {})).to.deep.equal(['token', 'rate', 'hook'])
    expect(Object.keys(sections['logging']?.['properties'] ?? {})).to.deep.equal(['level', 'detail'])
    expect(JSON.stringify(settingsSchema(registry))).to.include('"A rate."')
  })

  it('stand in the example and in the reference', () => {
    expect(exampleSettings(registry)).to.include('  limits:\n    # A token.\n    token: "usual"\n')
    const program = makeProgram({ environment: {} } as never, () => undefined)
    const pages = referencePages({ registry, pipelines: [] }, program)
    expect(pages.get('settings.md')).to.include('| `server_config.limits.rate` | text | `usual` | A rate. |')
    expect(pages.get('services.md')).to.include('| `limits.rate` | text | `usual` | A rate. |')
  })

  it('are read by each owner alone, and give away their secrets to nobody', () => {
    const limits = { token: 'the-token', rate: 'fast', hook: 'https://me:password@host/' }
    const [budgets, rates] = [...registry.services.values()]
    expect(settingsOf(budgets!, { limits })).to.deep.equal({ token: 'the-token' })
    expect(settingsOf(rates!, { limits })).to.deep.equal({ rate: 'fast', hook: limits.hook })
    const settings = { providers: [], server_config: { limits } }
    expect(secretsOf(settings as never, registry)).to.include.members(['the-token', 'password'])
  })

  it('of the engine say what its schemas cannot', () => {
    const found = (sections: string) => {
      const { source } = readSource('s.yaml', `server_config: ${sections}`, {})
      return loadSettings(source, registry, {}).diagnostics.map(printDiagnostic)
    }
    expect(found('{ security: { trusted_proxies: [10.0.0.0/8, "::1", "fd00::/8"] } }')).to.deep.equal([])
    expect(found('{ security: { trusted_proxies: [10.0.0.0/33] } }')).to.deep.equal([
      's.yaml:1:48: must be an address, or a range such as 10.0.0.0/8 [section]',
    ])
    expect(found('{ cors: { origins: ["https://app.example", "app://desk", "*"], max_age: 1m } }')).to.deep.equal([])
    const origin = 'must be an origin such as https://app.example: a scheme and a host, and nothing after it'
    for (const wrong of ['https://app.example/', 'https://APP.example', 'app.example', 'null'])
      expect(found(`{ cors: { origins: ["${wrong}"] } }`)).to.deep.equal([`s.yaml:1:36: ${origin} [section]`])
    expect(found('{ cors: { admin_origins: ["*"] } }')).to.deep.equal([`s.yaml:1:42: ${origin} [section]`])
    expect(found('{ cors: { origins: ["*"], credentials: true } }')).to.deep.equal([
      's.yaml:1:55: "*" allows every origin, so credentials cannot be allowed with it [section]',
    ])
  })
})
