import { expect } from 'chai'
import { sourcesOf } from './sources.ts'

/** The reader of every JSON text, and the one that it falls back on. */
const readers = ['engine/json/parse.ts', 'engine/json/reader.ts']

/** Ways to have V8 parse a JSON text, outside comments. */
const parsing = /^(?! *(?:\*|\/\*|\/\/)).*(?:\bJSON\s*(?:\??\.\s*parse\b|\??\.?\[)|=\s*JSON\b(?!\.)|\.json\(\))/gm

describe('JSON texts', () => {
  it('are parsed by parseJson alone', async () => {
    const files = [...(await sourcesOf('engine')), ...(await sourcesOf('plugins'))]
    // Templates are texts for authors, whose tests read what they asked for themselves.
    const bare = files.flatMap(({ path, text }) =>
      !path.startsWith('engine/cli/template/') && text.match(parsing) ? [path] : [],
    )
    expect(bare.sort()).to.deep.equal(readers)
  })

  it('would be found where they are not', () => {
    for (const line of [
      'a = JSON.parse(b)',
      'JSON?.parse(b)',
      "JSON['parse'](b)",
      'const { parse } = JSON',
      'await c.json()',
    ])
      expect(line.match(parsing), line).to.have.length(1)
    for (const line of [
      '/** As `JSON.parse` gives it. */',
      '   * JSON.parse(',
      'JSON.stringify(b)',
      'const a = JSON.stringify(b)',
    ])
      expect(line.match(parsing), line).to.equal(null)
  })
})
