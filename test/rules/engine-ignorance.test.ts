import { expect } from 'chai'
import { registry } from './registry.ts'
import { literalsOf, regexesOf, sourcesOf } from './sources.ts'

/** Words of vendors, their products and their models, wherever in a text they stand. */
const vendors =
  'anthropic|azure|bedrock|cohere|deepseek|fireworks|gemini|google|groq|huggingface|mistral|nvidia|ollama|openai|' +
  'openrouter|perplexity|qwen|sambanova|vertex|vllm|xai|claude|gpt|grok|haiku|llama|opus|sonnet|chatcmpl|o200k|cl100k|' +
  'discord|slack'
const vendorWord = new RegExp(`(?<![a-z])(${vendors})(?![a-z])`, 'i')

/** Presets of provider types: the words of their `preset` fields. */
function presetsOf(config: unknown): readonly string[] {
  const { properties } = config as { properties?: { preset?: { enum?: readonly string[] } } }
  return properties?.preset?.enum ?? []
}

describe('the engine', () => {
  it('knows no provider, protocol, stage or preset by name', async () => {
    const { stages, codecs, providers } = await registry()
    const presets = [...providers.values()].flatMap(({ config }) => presetsOf(config))
    const names = new Set([...stages.keys(), ...codecs.keys(), ...providers.keys(), ...presets])
    expect(names.size).to.be.greaterThan(30)
    // Words of the engine's own types and commands, which happen to be called as a component is.
    for (const word of ['call', 'guard', 'health', 'limit', 'log', 'messages', 'native']) names.delete(word)
    expect(found(await sourcesOf('engine'), (text) => names.has(text))).to.deep.equal([])
  })

  it('names no vendor and no model', async () => {
    expect(found(await sourcesOf('engine'), (text) => vendorWord.test(text))).to.deep.equal([])
  })

  it('would be caught if it did', () => {
    const lines = ['// openai', "const a = 'openai'", "const b = `gpt-${c ?? 'claude'}`", 'const d = "vertexes"']
    const file = { path: 'x.ts', text: [...lines, 'const e = /api|slack/'].join('\n') }
    expect(found([file], (text) => vendorWord.test(text))).to.deep.equal(
      ['openai', 'gpt-', 'claude', 'api|slack'].map((text) => `x.ts: ${text}`),
    )
  })
})

function found(files: Awaited<ReturnType<typeof sourcesOf>>, forbids: (text: string) => boolean): string[] {
  return files.flatMap((file) =>
    [...literalsOf(file), ...regexesOf(file).map(({ source }) => source)]
      .filter(forbids)
      .map((text) => `${file.path}: ${text}`),
  )
}
