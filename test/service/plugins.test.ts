import { expect } from 'chai'
import { ConfigurationError } from '../../engine/gateway.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startFolder } from '../support/folder.ts'
import type { FolderGateway } from '../support/folder.ts'

/** A provider of one sentence, as an operator writes it: TypeScript in two files, no build. */
const ownFiles = (words: string) => ({
  'mine/provider.ts': `import { defineProvider } from 'sluice'
import { sentence } from './sentence.ts'

interface Config { readonly mood: 'glad' | 'sad' }

export default defineProvider({
  name: 'acme',
  summary: 'Says one sentence.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: { mood: { enum: ['glad', 'sad'], default: 'glad', description: 'How it says it.' } },
  } as const,
  offers: () => [{ operation: 'generate' }],
  open: ({ mood }: Config) => ({
    answer: {
      async *generate(_request, model) {
        yield { type: 'start', model }
        yield { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } }
        yield { type: 'part', index: 0, kind: 'text' }
        yield { type: 'delta', index: 0, text: sentence(mood) }
        yield { type: 'item-end', index: 0 }
        yield { type: 'finish', stop: 'end', usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 } }
      },
    },
  }),
})
`,
  'mine/sentence.ts': `export const sentence = (mood: string): string => \`${words} (\${mood})\`\n`,
})

/** The same, as a package of plain JavaScript. */
const builtFiles = (entry: string, text: string) => ({
  'node_modules/built-provider/package.json': JSON.stringify({
    name: 'built-provider',
    version: '1.0.0',
    type: 'module',
    exports: `./${entry}`,
  }),
  [`node_modules/built-provider/${entry}`]: text,
})

const built = `export default {
  kind: 'plugin',
  name: 'built',
  summary: 'A package.',
  providers: [{
    kind: 'provider',
    name: 'built',
    summary: 'Says one word.',
    config: { type: 'object', additionalProperties: false, properties: {} },
    offers: () => [{ operation: 'generate' }],
    open: () => ({
      answer: {
        async generate(request, model) {
          return {
            model,
            items: [{ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Built.' }] }],
            stop: 'end',
            usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 },
          }
        },
      },
    }),
  }],
}
`

const settings = (...plugins: string[]) => ({
  plugins: [...plugins],
})
const messages = [{ role: 'user' as const, content: 'hello' }]

describe('a provider that is no part of the product', () => {
  let gateway: FolderGateway | undefined
  afterEach(async () => {
    await gateway?.close()
    gateway = undefined
  })

  it('is TypeScript in a folder of the operator, reached by every client', async () => {
    gateway = await startFolder(
      {
        ...settings('./mine/provider.ts'),
        providers: [{ name: 'acme', type: 'acme', mood: 'sad' }],
        models: [{ name: 'm', provider: 'acme' }],
      },
      ownFiles('Hello from afar'),
    )
    const said = 'Hello from afar (sad)'
    const chat = await openai(gateway).chat.completions.create({ model: 'm', messages })
    expect(chat.choices[0]?.message.content).to.equal(said)
    expect(chat.usage?.total_tokens).to.equal(3)
    expect(await openai(gateway).chat.completions.stream({ model: 'm', messages }).finalContent()).to.equal(said)
    const message = await anthropic(gateway).messages.create({ model: 'm', messages, max_tokens: 9 })
    expect(message.content).to.deep.equal([{ type: 'text', text: said }])
    expect(await anthropic(gateway).messages.stream({ model: 'm', messages, max_tokens: 9 }).finalText()).to.equal(said)
  })

  it('is a package beside the configuration', async () => {
    gateway = await startFolder(
      {
        ...settings('built-provider'),
        providers: [{ name: 'built', type: 'built' }],
        models: [{ name: 'm', provider: 'built' }],
      },
      builtFiles('index.js', built),
    )
    const chat = await openai(gateway).chat.completions.create({ model: 'm', messages })
    expect(chat.choices[0]?.message.content).to.equal('Built.')
    expect(await anthropic(gateway).messages.stream({ model: 'm', messages, max_tokens: 9 }).finalText()).to.equal(
      'Built.',
    )
  })

  it('is refused with its place when it cannot be loaded or its settings are wrong', async () => {
    const refused = (more: object, files: Record<string, string>) =>
      startFolder(more, files).then(
        async (opened) => {
          await opened.close()
          return 'it was taken'
        },
        (error: unknown) => {
          expect(error).to.be.instanceOf(ConfigurationError)
          return (error as ConfigurationError).message
        },
      )
    const acme = {
      providers: [{ name: 'acme', type: 'acme', mood: 'angry' }],
      models: [{ name: 'm', provider: 'acme' }],
    }
    expect(await refused({ ...settings('./mine/provider.ts'), ...acme }, ownFiles('Hello'))).to.match(
      /sluice\.yaml:\d+:\d+: .*glad/,
    )
    expect(await refused({ ...settings('./mine'), ...acme }, { 'mine/index.ts': 'export default {' })).to.match(
      /mine\/index\.ts/,
    )
    expect(await refused({ ...settings('no-such-package'), ...acme }, {})).to.match(
      /sluice\.yaml:\d+:\d+: .*no-such-package/,
    )
  })
})
