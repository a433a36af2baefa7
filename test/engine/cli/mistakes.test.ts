import { expect } from 'chai'
import type { Diagnostic } from '../../../engine/config/diagnostics.ts'
import { furtherMistakes } from './further-mistakes.ts'
import { mistakes, sign, sound } from './mistakes.ts'
import type { Mistake } from './mistakes.ts'
import { sandbox } from './sandbox.ts'

describe('cli/check: mistakes of operators', () => {
  it('finds nothing in a configuration without mistakes', async () => {
    expect(
      await findings({ mistake: 'none', code: '', steps: '- set: { override: { temperature: 0 } }' }),
    ).to.deep.equal([])
  })

  it('finds nothing in a budget for a model whose price is in the shipped list, unless that is off', async () => {
    const budgeted = (name: string, beside = ''): Mistake => ({
      mistake: 'none',
      code: '',
      providers: '- { name: vendor, type: native, base_url: https://api.openai.com/v1, api_key: some-key }',
      models: `- { name: ${name}, provider: vendor }`,
      beside: `${beside}api_keys:\n  - { name: poor, key: some-secret-key-of-some-length-1, budget: { usd: 5 } }`,
    })
    const codes = async (one: Mistake) => (await findings(one)).map(({ code }) => code)
    expect(await codes(budgeted('gpt-6.1-sol'))).to.deep.equal([])
    expect(await codes(budgeted('gpt-unheard-of'))).to.deep.equal(['pricing'])
    expect(await codes(budgeted('gpt-6.1-sol', 'catalog: { prices: off }\n'))).to.deep.equal(['pricing'])
  })

  for (const [group, list] of Object.entries({ ...mistakes, ...furtherMistakes }))
    describe(group, () => {
      for (const one of list)
        it(`${one.mistake}: ${one.code}`, async () => {
          const [place] = Object.entries(filesOf(one)).flatMap(([file, text]) => placeOf(file, text) ?? [])
          const found = (await findings(one)).map(({ file, line, column, code }) => `${file}:${line}:${column} ${code}`)
          expect(found).to.deep.equal([`${place} ${one.code}`])
        })
    })
})

function filesOf({ providers, models, beside, settings, files = {}, ...one }: Mistake): Record<string, string> {
  const list = (text: string | undefined, indent = '  ') => text?.replaceAll(/^/gm, indent)
  const configuration = [
    sound.replace('models:', providers === undefined ? 'models:' : `${list(providers)}\nmodels:`) +
      (list(models) ?? ''),
    beside,
    ...(settings === undefined ? [] : ['server_config:', list(settings)]),
  ]
  const steps = [
    `name: own\nsummary: Own.\nprotocol: chat\nroutes: [POST /own]`,
    one.head,
    'stages:\n  - auth\n  - parse',
    list(one.steps),
    '  - validate\n  - limit\n  - guard: { side: input }',
    list(one.later),
    '  - use: route\n  - reserve\n  - use: generate',
    list(one.last),
    'finally: [price, charge, record-routing, log: { type: chat }]\n',
  ]
  const isPipeline = [one.steps, one.later, one.last, one.head].some((text) => text !== undefined)
  const joined = (lines: readonly (string | undefined)[]) => lines.filter((line) => line !== undefined).join('\n')
  return {
    'config/sluice.yaml': one.file ?? joined(configuration),
    ...(isPipeline ? { 'pipelines/own.yaml': joined(steps) } : {}),
    ...files,
  }
}

/** The place of the sign. */
function placeOf(file: string, text: string): string | undefined {
  const before = text.split(sign)
  if (before.length < 2) return undefined
  const lines = before[0]?.split('\n') ?? []
  return `${file}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
}

async function findings(one: Mistake): Promise<readonly Diagnostic[]> {
  const texts = Object.entries(filesOf(one)).map(([file, text]) => [file, text.replace(sign, '')])
  const here = await sandbox(Object.fromEntries(texts) as Record<string, string>)
  try {
    const { status, out } = await here.run('check', '--strict', '--json')
    const found = JSON.parse(out.join('\n')) as readonly Diagnostic[]
    expect(status).to.equal(found.length > 0 ? 1 : 0)
    return found
  } finally {
    await here.remove()
  }
}
