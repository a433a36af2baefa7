import { expect } from 'chai'
import { superlinear } from './regex-shape.ts'
import { regexesOf, sourcesOf } from './sources.ts'
import type { SourceFile } from './sources.ts'

/** Expressions that the rule refuses and that stay, by file and source: why they are harmless. */
const allowed: Readonly<Record<string, string>> = {
  'engine/config/format.ts ^(actions|(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|WS) (/\\*?|(/(:[a-z][a-z0-9_]*|[\\w.~-]+))+(/\\*(:\\w+)?)?))$':
    'Every turn of the outer run begins with a slash, which the inner ones cannot read. It is tried on routes in YAML.',
}

/** Files that make an expression of a text while they run: what that text is. */
const made: Readonly<Record<string, string>> = {
  'engine/cli/fixture/match.ts': 'It stands in a fixture, which its author runs against his own pipelines.',
  'engine/cli/editor-schemas.ts': 'It is the pattern of a schema of ours, tried on one fixed text.',
  'engine/http/exchange.ts': 'It is the source of a literal, which is judged here too.',
  'engine/pipeline/named.ts': 'It is the pattern of a schema, tried on keys of YAML that Ajv tries it on, too.',
  'plugins/responses/stored/event-end.ts': 'They are names of events without a run, one of which has to match.',
  'engine/kit/generate/client-request.ts':
    'A quote and a fixed prefix begin it, and a quote ends its only run: none of them can stand in the run.',
}

describe('gateway: regular expressions', () => {
  let sources: readonly SourceFile[]
  before(async () => {
    sources = [...(await sourcesOf('engine')), ...(await sourcesOf('plugins'))]
  })

  it('take time in proportion to the text they are tried on', () => {
    const regexes = sources.flatMap(regexesOf)
    expect(regexes.length, 'expressions that were found').to.be.above(100)
    const refused = regexes.flatMap(({ path, source, flags }) => {
      const why = superlinear(source, flags)
      return why === undefined ? [] : [{ place: `${path} ${source}`, why }]
    })
    expect(refused.filter(({ place }) => !(place in allowed))).to.deep.equal([])
    expect(Object.keys(allowed), 'no longer needed').to.have.members(refused.map(({ place }) => place))
  })

  it('are made of a text only where that text is known', () => {
    const making = sources.filter(({ text }) => /\bRegExp\(/.test(text)).map(({ path }) => path)
    expect(making).to.have.members(Object.keys(made))
  })

  it('are told in words where a schema asks for one', () => {
    const silent = sources.filter(
      ({ text }) =>
        [...text.matchAll(/\bpattern:\s+'/g)].length !== [...text.matchAll(/\bpatternErrorMessage: '/g)].length,
    )
    expect(silent.map(({ path }) => path)).to.deep.equal([])
  })

  it('are judged as they should be', () => {
    const slow = [
      /\b(eyJ)[\w-]{8,}\.[\w-]+\.[\w-]*/g,
      /(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
      /\/+$/,
      /a(?=\w*\d)/,
      /^(?=\w*\d\w*!)/,
      /^(a+)+$/,
      /^(a|a)*$/,
      /^(?:a|b|ab)*c/,
      /^\s*(.*)\s*$/,
      /^a*x?a*b/,
      /^\d+x/gm,
    ]
    const quick = [
      /\b(sk-)[\w-]{6,}/g,
      /\b(eyJ)[\w-]{8,}(?:\.[\w-]*){0,4}/g,
      /^[^:]*:[^@]*@$/,
      /^(\d+)(ms|s)$/,
      /^data:(?<kind>\w{0,32})[^,]{0,256};base64,(?<data>.*)$/is,
      /;a*(?:"(?:[^"\\]|\\.)*")?b/y,
      /\{(\w{1,64})\}/g,
      /(?<=\n\n)/,
    ]
    expect(slow.filter(({ source, flags }) => superlinear(source, flags) === undefined)).to.deep.equal([])
    expect(quick.filter(({ source, flags }) => superlinear(source, flags) !== undefined)).to.deep.equal([])
  })

  it('are found wherever they stand', () => {
    const text = [
      'const a = text.replace(/a"b/g, "/no/") // /no/',
      'const half = (one + two) / 2 / three',
      'return /[/]c/.test(`x ${text.split(/d/y)} /no/`)',
      "const schema = { pattern: '^\\\\S+$' }",
    ].join('\n')
    expect(regexesOf({ path: 'x', text }).map(({ source, flags }) => `${source} ${flags}`)).to.deep.equal([
      'a"b g',
      '[/]c ',
      'd y',
      '^\\S+$ ',
    ])
  })
})
