// Measures the judges of texts alone: microseconds of processor time for a chat of 2 KB, milliseconds for a megabyte.
//   node test/bench/judges.ts [kind …]
import type { AnyGuard, Host, Judge, Judged, JudgeScope } from '../../engine/index.ts'
import pii from '../../plugins/guards/pii.ts'
import regex from '../../plugins/guards/regex.ts'
import search from '../../plugins/guards/search.ts'
import type { SearchInput } from '../../plugins/guards/search.ts'
import secrets from '../../plugins/guards/secrets.ts'
import words from '../../plugins/guards/words.ts'
import { scenarios } from './scenarios.ts'

const listed = Array.from({ length: 5_000 }, (_, index) => `word${index * 7_919}x`)

/** The kinds that look at each character, as a configuration has them. */
const kinds: Readonly<Record<string, readonly [AnyGuard, object]>> = {
  pii: [pii, { entities: ['email', 'phone', 'iban', 'credit_card', 'ip', 'us_ssn'] }],
  secrets: [secrets, { entities: ['api_key', 'private_key', 'jwt', 'aws', 'github', 'slack'] }],
  words: [words, { words: listed, case: false, whole: true }],
  regex: [regex, { patterns: ['ORD-\\d{8}'], flags: 'is', longest: 256 }],
}

const { messages } = scenarios.json32.body('chat') as { messages: readonly [{ content: string }, { content: string }] }

/** What stands in chats, over and over, and what is made to hold a judge up. */
const samples: Readonly<Record<string, string>> = {
  chat: messages[1].content,
  german:
    'Am 27.11. trafen sich 14 Gäste in der Straße 5; der Schlüssel lag „unter der Matte“, und alle waren fröhlich. ',
  code: 'const key = options.token ?? std::get<2>(pair); // see section 4.2, tokens = 1_024, a->b["access"]\n',
  digits: '12 345-678 9/01 (23) 4.5.6.7 ',
  cards: '4111 1111 1111 1112 ',
  hyphens: '12-34-',
  dots: '1.1.1.',
  colons: '1::2:',
  signs: 'a@b.',
  accents: 'ä@ö.',
  keys: 'key1 ',
  marks: 'sk-abc ',
}

function judgedOf(texts: readonly string[]): Judged {
  return {
    texts: texts.map((text, index) => ({ at: `messages[${index}].content`, role: 'user', text, from: 0 })),
    tool_calls: [],
  } as unknown as Judged
}

/** Microseconds of a judgement: the median of rounds, each long enough to be counted. */
function costOf(kind: AnyGuard, config: object, judged: Judged, rounds: number, turns: number): number {
  // What the pool would get is judged here, too.
  const host = { work: (_: URL, input: SearchInput) => search(input) } as unknown as Host
  const judge = kind.build(config as never, host, {}) as Judge
  const scope = { places: true, timeout: 1_000 } as JudgeScope
  const took = Array.from({ length: rounds }, () => {
    const began = process.threadCpuUsage()
    for (let turn = 0; turn < turns; turn++) void judge(judged, scope)
    const { user, system } = process.threadCpuUsage(began)
    return (user + system) / turns
  })
  return took.toSorted((left, right) => left - right)[rounds >> 1] ?? 0
}

const chat = judgedOf(messages.map(({ content }) => content))
const wanted = process.argv.slice(2)
for (const [name, [kind, config]] of Object.entries(kinds)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  costOf(kind, config, chat, 3, 2_000)
  process.stdout.write(`${name}: ${costOf(kind, config, chat, 15, 500).toFixed(1)} µs for a chat of 2 KB\n`)
  for (const [sample, text] of Object.entries(samples)) {
    const megabyte = judgedOf([text.repeat(Math.ceil(1_000_000 / text.length)).slice(0, 1_000_000)])
    process.stdout.write(
      `  ${sample.padEnd(9)} ${(costOf(kind, config, megabyte, 5, 8) / 1_000).toFixed(1)} ms per MB\n`,
    )
  }
}
