import { expect } from 'chai'
import type { Diagnostic } from '../../engine/config/diagnostics.ts'
import { configuration, sandbox } from '../engine/cli/sandbox.ts'
import type { Sandbox } from '../engine/cli/sandbox.ts'

/** Lines of a guard, the text that the finding stands at, and its message. */
const wrong: Readonly<Record<string, readonly [guard: string, at: string, message: RegExp]>> = {
  'an unknown kind': ['kind: wrods, words: [a]', 'wrods', /no guard kind "wrods"; did you mean "words"\?/],
  'an unknown side': ['kind: pii, side: [inputs]', 'inputs', /"input", "output", "tool_calls", "tool_results"/],
  'an unknown role': ['kind: pii, roles: [developer]', 'developer', /"user", "tool", "system", "assistant"/],
  'an unknown entity of pii': ['kind: pii, entities: [mail]', 'mail', /"email"/],
  'an unknown entity of secrets': ['kind: secrets, entities: [gitlab]', 'gitlab', /"github"/],
  'an unknown action': ['kind: pii, action: block', 'block', /"deny"/],
  'an unknown contract': ['kind: webhook, url: "http://a", contract: own', 'own', /"sluice", "litellm", "portkey"/],
  'an unknown model': ['kind: model, model: nobody, question: "Is it?"', 'nobody', /no model named "nobody"/],
  'a field of another kind': ['kind: pii, words: [a]', 'words', /unknown/],
  'a field of no kind': ['kind: pii, colour: red', 'colour', /unknown/],
  'a pattern that does not compile': ['kind: regex, patterns: [a, "(b)\\\\1"]', '"(b)', /^it does not compile: /],
  'a pattern that looks around': ['kind: regex, patterns: [{ name: n, pattern: "(?=a)b" }]', '"(?=a)b"', /not compile/],
  'a pattern that is too large': ['kind: regex, patterns: ["(?:(?:a?){50}){20}"]', '"(?:(', /2002 instructions/],
  'a word that is empty': ['kind: words, words: [a, " "]', '" "', /an empty word is everywhere/],
  'a schema that does not compile': ['kind: schema, side: [output], schema: { type: no }', '{ type', /not compile/],
  'a schema with a pattern that looks around': [
    'kind: schema, side: [output], schema: { pattern: "(?=a)b" }',
    '{ pattern',
    /does not compile/,
  ],
  'a schema that judges by windows': [
    'kind: schema, side: [output], schema: {}, stream: window',
    'window',
    /it judges whole answers: it needs "stream: full"/,
  ],
  'a schema of requests': ['kind: schema, schema: {}, side: [input]', '[input]', /it judges answers/],
  'a schema of results of tools': [
    'kind: schema, schema: {}, side: [tool_results]',
    '[tool_results]',
    /it judges answers/,
  ],
  'a schema of a tool whose calls are not judged': [
    'kind: schema, schema: {}, tool: send, side: [output]',
    '[output]',
    /it needs "side: \[tool_calls\]"/,
  ],
  'a schema of texts that are not judged': [
    'kind: schema, schema: {}, side: [tool_calls]',
    '[tool_calls]',
    /it needs "side: \[output\]", or "tool"/,
  ],
  'a length that is none': ['kind: length', 'name: one', /nothing is too long/],
  'a length of messages, of answers': [
    'kind: length, max_messages: 3, side: [output]',
    '3',
    /answers have no messages: it needs "side: \[input\]"/,
  ],
  'a length that judges by windows': ['kind: length, max_tokens: 9, stream: window', 'window', /"stream: full"/],
  'a length that masks': ['kind: length, max_tokens: 9, action: mask', 'mask', /no places that could be masked/],
  'roles without requests': ['kind: pii, side: [output], roles: [user]', '[user]', /it needs "side: \[input\]"/],
  'roles of the results of tools': ['kind: pii, side: [tool_results], roles: [user]', '[user]', /"side: \[input\]"/],
  'a scope without requests': ['kind: pii, side: [output], scope: turn', 'turn', /how much of a request/],
  'reasoning without answers': ['kind: pii, side: [input], reasoning: false', 'false', /"side: \[output\]"/],
  'streams without answers': ['kind: pii, side: [input], stream: full', 'full', /"side: \[output\]"/],
  'no side': ['kind: pii, side: []', '[]', /must not be empty/],
  'a denial after everything has passed': ['kind: pii, stream: after', 'after', /it cannot deny/],
  'a mask after everything has passed': ['kind: pii, stream: after, action: mask', 'after', /it cannot mask/],
  'another try by windows': ['kind: pii, side: [output], action: retry, stream: window', 'window', /whole answers/],
  'another model by windows': [
    'kind: pii, side: [output], action: fallback, stream: window',
    'window',
    /whole answers/,
  ],
  'another try of a request': [
    'kind: pii, action: retry',
    'name: one',
    /retry judges answers: it needs "side: \[output\]"/,
  ],
  'times without another try': ['kind: pii, times: 2', '2', /only "action: retry" tries again/],
  'feedback without another try': ['kind: pii, feedback: No., side: [output]', 'No.', /only "action: retry" tells/],
  'a sample that lets something pass': ['kind: pii, sample: 0.5', '0.5', /lets something pass unjudged/],
  'a sample that is no share': ['kind: pii, action: flag, sample: 2', '2', /at most 1/],
  'an overlap as long as the window': [
    'kind: pii, window: { characters: 10, overlap: 10 }',
    '10 }',
    /it must be less than "characters"/,
  ],
  'a time that is too long': ['kind: pii, timeout: 2m', '2m', /60s/],
  'tokens of one turn': ['kind: pii, action: mask, mask: token, scope: turn', 'turn', /the whole conversation/],
  'a secret of a contract without one': [
    'kind: webhook, url: "http://a", contract: litellm, secret: s',
    's }',
    /the contract litellm has no signature/,
  ],
  'parameters of a contract without them': [
    'kind: webhook, url: "http://a", params: { a: 1 }',
    '{ a: 1',
    /the contract sluice has no parameters/,
  ],
}

describe('guards: findings', () => {
  let here: Sandbox
  before(async () => (here = await sandbox()))
  after(() => here.remove())

  const found = async (text: string): Promise<readonly Diagnostic[]> => {
    await here.write('config/sluice.yaml', configuration + text)
    const { out } = await here.run('check', '--json')
    return (JSON.parse(out.join('\n')) as Diagnostic[]).filter(({ note, warning }) => !note && !warning)
  }

  for (const [what, [guard, at, message]] of Object.entries(wrong))
    it(`tell ${what}, with its place`, async () => {
      const line = `  - { name: one, ${guard} }`
      const findings = await found(`guards:\n  - { name: first, kind: pii }\n${line}\n`)
      expect(findings.map((one) => one.message)).to.have.lengthOf(1)
      const [finding] = findings
      expect(finding?.message).to.match(message)
      expect(finding).to.include({ file: 'config/sluice.yaml', line: 6 })
      const column = (finding?.column ?? 0) - 1
      expect(line.slice(column), `column ${column} of ${line}`).to.match(new RegExp(`^(?:\\{ )?${RegExp.escape(at)}`))
    })

  it('tell two guards of a name, with the place of the second', async () => {
    const [finding, ...others] = await found(
      'guards:\n  - { name: one, kind: pii }\n  - { name: one, kind: secrets }\n',
    )
    expect(others).to.deep.equal([])
    expect(finding).to.include({ file: 'config/sluice.yaml', line: 6, code: 'duplicate' })
  })

  it('tell a name of no guard, where a key or a model has it', async () => {
    const key = 'sk-0123456789abcdef0123456789abcdef'
    const findings = await found(
      `guards: [{ name: contact, kind: pii }]
api_keys:
  - { name: on, key: ${key}, guards: [contacts] }
  - { name: off, key: ${key}off, guards_off: [contakt] }
`,
    )
    expect(findings.map(({ file, line, message }) => `${file}:${line}: ${message}`)).to.deep.equal([
      'config/sluice.yaml:6: no guard named "contacts"; did you mean "contact"?',
      'config/sluice.yaml:7: no guard named "contakt"; did you mean "contact"?',
    ])
    await here.write(
      'config/sluice.yaml',
      configuration.replace('provider: echo }]', 'provider: echo, guards: [nobody] }]'),
    )
    const { out } = await here.run('check', '--json')
    const [one] = JSON.parse(out.join('\n')) as Diagnostic[]
    expect(one).to.include({ file: 'config/sluice.yaml', line: 3, message: 'no guard named "nobody"' })
  })

  it('are none for guards that are right', async () => {
    const right = [
      'kind: pii, side: [tool_results]',
      'kind: pii, side: [tool_calls], stream: full',
      'kind: pii, side: [input], roles: [tool], scope: turn',
      'kind: pii, side: [output], reasoning: false, stream: after, action: flag',
      'kind: pii, stream: after, shadow: true, sample: 0.1',
      'kind: length, max_messages: 3, side: [tool_results]',
      'kind: length, max_tokens: 3, side: [output]',
      'kind: schema, schema: { type: object }, side: [output], action: retry, times: 2, feedback: No.',
      'kind: schema, schema: {}, tool: send, side: [tool_calls]',
      'kind: regex, patterns: [a+]',
      'kind: words, words: [a]',
    ]
    const lines = right.map((guard, index) => `  - { name: right-${index}, ${guard} }`)
    expect(await found(`guards:\n${lines.join('\n')}\n`)).to.deep.equal([])
  })
})
