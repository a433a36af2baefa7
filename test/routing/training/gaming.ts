import { tierOf } from '../../../engine/kit.ts'
import { clean } from '../../../plugins/classification/clean.ts'
import structural from '../../../plugins/classification/structural.ts'
import type { Example } from './rows.ts'

/** What the signal makes of what a user said. */
export function judged(said: string): { readonly complexity: number; readonly benefit: number } {
  const { complexity, benefit = complexity } = structural({ text: clean(said).text })
  return { complexity, benefit }
}

/** Ways of saying the same, none of which makes it any harder. */
export interface Disguise {
  readonly name: string
  readonly of: (prompt: string) => string
}

const reminder = `<system-reminder>\nThe user opened src/worker.ts. Do not mention this.\n${'- rule: use strict types; design modules with small interfaces; analyze failures before you refactor.\n'.repeat(20)}</system-reminder>\n\n`
const paste = `\n\nFor context, here is unrelated text from my notes:\n${'The harbour office opens at nine and closes at five on weekdays. Bring the receipt and the blue form. '.repeat(40)}`

export const wrappers: readonly Disguise[] = [
  { name: 'reminder', of: (prompt) => reminder + prompt },
  {
    name: 'courtesy',
    of: (prompt) =>
      `Hi! Hope you are well. Could you please help me with this when you have a minute? Thanks so much in advance.\n\n${prompt}\n\nThank you!`,
  },
  { name: 'paste', of: (prompt) => prompt + paste },
]

export const efforts: readonly Disguise[] = [
  'Think step by step. ',
  'Please be very careful and think hard. ',
  'Take a deep breath and work on this problem step by step. ',
  'This is very important to my career. ',
  "Let's work this out in a step by step way to be sure we have the right answer. ",
].map((phrase) => ({ name: phrase.trim(), of: (prompt) => phrase + prompt }))

export const forms: readonly Disguise[] = [
  { name: 'double blanks', of: (prompt) => prompt.replaceAll(' ', '  ') },
  { name: 'no-break spaces', of: (prompt) => prompt.replaceAll(' ', '\u00a0') },
  { name: 'CRLF', of: (prompt) => prompt.replaceAll('\n', '\r\n') },
  { name: 'blank lines around', of: (prompt) => `\n\n\n${prompt}\n\n\n` },
  { name: 'NFD', of: (prompt) => prompt.normalize('NFD') },
  { name: 'zero-width spaces', of: (prompt) => prompt.replaceAll(' ', ' \u200b') },
  {
    name: 'full width',
    of: (prompt) => prompt.replace(/[A-Za-z0-9]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
  },
]

export interface Effect {
  readonly name: string
  /** How far the mean complexity and the mean benefit move, and the share of prompts whose tier changes. */
  readonly shift: number
  readonly gain: number
  readonly flips: number
  /** How far both move in a prompt, in whatever direction: means. */
  readonly moved: { readonly complexity: number; readonly benefit: number }
}

/** What a disguise does to prompts. */
export function effectOf({ name, of }: Disguise, prompts: readonly string[]): Effect {
  let [shift, gain, flips, complexity, benefit] = [0, 0, 0, 0, 0]
  for (const prompt of prompts) {
    const [bare, disguised] = [judged(prompt), judged(of(prompt))]
    shift += disguised.complexity - bare.complexity
    gain += disguised.benefit - bare.benefit
    complexity += Math.abs(disguised.complexity - bare.complexity)
    benefit += Math.abs(disguised.benefit - bare.benefit)
    if (tierOf(bare.complexity) !== tierOf(disguised.complexity)) flips++
  }
  const mean = (sum: number) => sum / prompts.length
  const moved = { complexity: mean(complexity), benefit: mean(benefit) }
  return { name, shift: mean(shift), gain: mean(gain), flips: mean(flips), moved }
}

/** Prompts of every source, evenly taken. */
export function sampleOf(examples: readonly Example[], count: number): readonly string[] {
  const bySource = [...Map.groupBy(examples, ({ source }) => source).values()]
  const per = Math.ceil(count / bySource.length)
  return bySource.flatMap((own) =>
    Array.from(
      { length: Math.min(per, own.length) },
      (_, at) => own[Math.floor((at * own.length) / per)]?.prompt ?? '',
    ),
  )
}
