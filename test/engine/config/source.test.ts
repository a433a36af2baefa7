import { expect } from 'chai'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { readSource, sizeLimit } from '../../../engine/config/source.ts'

const read = (text: string, environment = {}) => {
  const { source, diagnostics } = readSource('a.yaml', text, environment)
  return { source, value: source.value, problems: diagnostics.map(printDiagnostic) }
}

describe('YAML source', () => {
  it('keeps texts, numbers and booleans as YAML 1.2 has them', () => {
    const text = 'a: no\nb: 012\nc: true\nd: ~\ne: 2026-01-01\nf: [1.5, "2"]\n1: one\n'
    const value = { a: 'no', b: 12, c: true, d: null, e: '2026-01-01', f: [1.5, '2'], 1: 'one' }
    expect(read(text)).to.deep.include({ value, problems: [] })
  })

  it('fills variables in, also within a text, and counts empty ones as unset', () => {
    const { value, problems, source } = read(
      'a: ${NAME}\nb: "x-${NAME}-${NO:-de fault}"\nc: ${EMPTY:-}\nd: $${NAME} $NAME\ne: [k, "${EMPTY} ${NO}"]\nf: ${constructor}\n',
      {
        NAME: '${NO}',
        EMPTY: '',
      },
    )
    expect(value).to.deep.equal({ a: '${NO}', b: 'x-${NO}-de fault', c: '', d: '${NAME} $NAME', e: ['k', ' '], f: '' })
    expect(problems).to.deep.equal([])
    expect(source.missing).to.deep.equal([
      { path: ['e', 1], name: 'EMPTY' },
      { path: ['e', 1], name: 'NO' },
      { path: ['f'], name: 'constructor' },
    ])
    expect([source.interpolated(['a']), source.interpolated(['e', 0])]).to.deep.equal([true, false])
  })

  it('refuses what looks like a variable but is none', () => {
    expect(read('a: "${1x}"\nb: ${OPEN\nc: ${NAME-x}\n').problems).to.deep.equal([
      'a.yaml:1:4: "${1x}" is neither ${NAME} nor ${NAME:-default}; write $${ for the text itself [interpolation]',
      'a.yaml:2:4: "${OPEN" is neither ${NAME} nor ${NAME:-default}; write $${ for the text itself [interpolation]',
      'a.yaml:3:4: "${NAME-x}" is neither ${NAME} nor ${NAME:-default}; write $${ for the text itself [interpolation]',
    ])
  })

  it('reports wrong syntax, duplicate keys, tags, odd numbers and keys where they stand', () => {
    expect(read('a: 1\nb: 2\na: 3\n')).to.deep.include({
      value: null,
      problems: ['a.yaml:3:1: Map keys must be unique [yaml]'],
    })
    expect(read('a: [1\n').problems).to.have.length(1)
    expect(read('a: 1\nb: .inf\n').problems).to.deep.equal(['a.yaml:2:4: a number must be finite [yaml]'])
    expect(read('? [a]\n: 1\n').problems).to.deep.equal(['a.yaml:1:1: a key must be plain text [yaml]'])
    expect(read('a: !!js/function x\n').problems).to.deep.equal([
      'a.yaml:1:4: Unresolved tag: tag:yaml.org,2002:js/function [yaml]',
    ])
    expect(read('a: *b\n').problems).to.have.length(1)
    expect(read('x: 1\na: { b: ${X} }\nc: [\nx: 2\n').problems).to.deep.equal([
      'a.yaml:2:10: inside { } and [ ], text with ${...} must stand in quotes [yaml]',
    ])
    expect(read('---\na: 1\n---\nb: 1\n').problems).to.have.length(1)
  })

  it('refuses documents that are too large, too deep or unfold to too much', () => {
    expect(read('#'.repeat(sizeLimit + 1)).problems).to.deep.equal([
      'a.yaml:1:1: the file is larger than 1048576 bytes [too-large]',
    ])
    const bomb = [
      'a: &a [1,2,3,4,5,6,7,8,9]',
      ...'bcdefg'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdef'[i]}`).join()}]`),
    ]
    const problem =
      /^a\.yaml:\d+:\d+: the document is nested too deeply, or its aliases expand to too many values \[yaml\]$/
    expect(read(bomb.join('\n')).problems.join()).to.match(problem)
    expect(read(`${'['.repeat(70)}${']'.repeat(70)}`).problems.join()).to.match(problem)
    expect(read('['.repeat(5000)).problems[0]).to.match(/^a\.yaml:1:\d+: .*\[yaml\]$/)
  })

  it('takes the entries of other maps under "<<", its own first, then in order', () => {
    const text = `
base: &base { a: 1, b: 2, deep: { x: 1 } }
more: &more { b: 3, c: 4, <<: *base }
one: { <<: *base, b: 9 }
two: { b: 9, <<: [*more, *base, { d: 5 }] }
text: { "<<": 1 }
`
    const { source, diagnostics } = readSource('a.yaml', text, {})
    expect(diagnostics).to.deep.equal([])
    const { one, two, text: plain } = source.value as Record<string, unknown>
    expect(one).to.deep.equal({ b: 9, a: 1, deep: { x: 1 } })
    expect(two).to.deep.equal({ b: 9, c: 4, a: 1, deep: { x: 1 }, d: 5 })
    expect(plain).to.deep.equal({ '<<': 1 })
    // A finding stands where the value was written.
    expect(source.report(['one', 'deep', 'x'], 'x', 'y')).to.include({ line: 2, column: 38 })
    expect(source.report(['one', 'b'], 'x', 'y')).to.include({ line: 4, column: 22 })
  })

  it('refuses merges of what is no map, in a circle, or of too much', () => {
    const told = (text: string) => readSource('a.yaml', text, {}).diagnostics.map(printDiagnostic)
    for (const value of ['1', '[1]', '[[{ a: 1 }]]', ''])
      expect(told(`a: { <<: ${value} }`), value).to.deep.equal([
        'a.yaml:1:6: "<<" takes a map or a list of maps [yaml]',
      ])
    expect(told('a: &a { <<: *a, b: 1 }')[0]).to.match(/too deeply, or its aliases expand/)
    expect(told('a: &a [*a]\nb: { <<: *a }')[0]).to.match(/\[yaml\]$/)
    const wide = `a: &a { ${Array.from({ length: 1_000 }, (_, index) => `k${index}: 1`).join()} }\n`
    const many = `b: { <<: [${Array(1_000).fill('*a').join()}] }\n`
    expect(told(wide + many)[0]).to.match(/too deeply, or its aliases expand/)
  })

  it('keeps __proto__ an ordinary key', () => {
    const { value } = read('__proto__: { polluted: true }\n')
    expect(Object.keys(value as object)).to.deep.equal(['__proto__'])
    expect(Object.hasOwn({}, 'polluted')).to.equal(false)
    expect(({} as { polluted?: boolean }).polluted).to.equal(undefined)
  })

  it('places findings at values, keys and, for what is not written, at the nearest ancestor', () => {
    const { source } = read('a:\n  b: &x { c: 1 }\n  d: *x\n')
    const at = (path: string[], where?: 'key') => printDiagnostic(source.report(path, 'c', 'm', where))
    expect(at(['a', 'b', 'c'])).to.equal('a.yaml:2:14: m [c]')
    expect(at(['a', 'b'], 'key')).to.equal('a.yaml:2:3: m [c]')
    expect(at(['a', 'd', 'c'])).to.equal('a.yaml:2:14: m [c]')
    expect(at(['a', 'd'], 'key')).to.equal('a.yaml:3:3: m [c]')
    expect(at(['a', 'z', 'z'])).to.equal('a.yaml:2:3: m [c]')
  })
})
