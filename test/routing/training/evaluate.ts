import { lookUp } from '../../../plugins/classification/confidence-map.ts'
import { calibrationError, labelsOf } from './confidence.ts'
import { effectOf, efforts, forms, judged, sampleOf, wrappers } from './gaming.ts'
import { qualityOf } from './metrics.ts'
import { refittedBy } from './refits.ts'
import type { Refitted } from './refits.ts'
import type { Example } from './rows.ts'
import { train } from './train.ts'

// npm run evaluate:routing: how well the signal `structural` judges families of prompts that it was not trained on, what
// disguises do to it, and what it takes.

const { examples, complexities, gains, confidence, model, benefit } = train()
const three = (value: number) => value.toFixed(3)

function table(head: readonly string[], rows: readonly (readonly string[])[]): void {
  console.log(`\n| ${head.join(' | ')} |\n|${head.map(() => '---|').join('')}`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

/** A line of the table of quality for the examples that fit. */
function quality(name: string, fits: (example: Example) => boolean): readonly string[] {
  const own = [...examples.keys()].filter((at) => fits(examples[at] as Example))
  const of = (values: readonly number[]) =>
    qualityOf(
      own.map((at) => values[at] ?? 0),
      own.map((at) => examples[at] as Example),
    )
  const [one, other] = [of(complexities), of(gains)]
  return [name, String(own.length), three(one.auc), three(one.apgr), three(other.apgr)]
}

console.log(
  `weights ${model.version} and ${benefit.version}, map ${confidence.version}, ${examples.length} rows, sha256 ${model.data}`,
)
const pairs = [...new Set(examples.map(({ pair }) => pair.join()))]
const sources = [...new Set(examples.map(({ source }) => source))]
table(
  ['out of family', 'rows', 'AUC weak fails by complexity', 'APGR by complexity', 'APGR by benefit'],
  [
    ...pairs.map((pair) => quality(pair.replace(',', ' -> '), (example) => example.pair.join() === pair)),
    ...sources.map((source) => quality(source, (example) => example.source === source)),
  ],
)
const labels = labelsOf(complexities, examples)
const share = labels.reduce((sum, { right }) => sum + right, 0) / labels.length
table(
  ['confidence', 'ECE', 'Brier'],
  [
    ['raw', three(calibrationError(labels, (raw) => raw)), three(confidence.brier_before)],
    ['mapped', three(calibrationError(labels, (raw) => lookUp(confidence, raw))), three(confidence.brier_after)],
  ],
)
table(
  ['ratings of another source', 'ECE', 'Brier'],
  [25, 100, 200].flatMap((count) => {
    const { before, after } = refittedBy(count, complexities, examples)
    const line = (name: string, { error, brier }: Refitted) => [name, three(error), three(brier)]
    return [...(count === 25 ? [line('none', before)] : []), line(String(count), after)]
  }),
)
console.log(`\nThe tier is right for ${three(share)} of the rows.`)
const prompts = sampleOf(examples, 240)
table(
  ['disguise', 'shift of the mean complexity', 'of the mean benefit', 'tiers that change'],
  [...wrappers, ...efforts, ...forms].map((disguise) => {
    const { name, shift, gain, flips } = effectOf(disguise, prompts)
    return [name, three(shift), three(gain), `${(100 * flips).toFixed(1)} %`]
  }),
)
const long = prompts.join('\n\n').repeat(8)
table(
  ['characters', 'microseconds per classification'],
  [545, 2_000, 100_000].map((size) => [String(size), microseconds(long.slice(0, size)).toFixed(1)]),
)

/** The middle of many runs, cleaning included. */
function microseconds(text: string): number {
  const times = Array.from({ length: 2_000 }, () => {
    const start = performance.now()
    judged(text)
    return (performance.now() - start) * 1_000
  })
  return times.sort((one, other) => one - other)[1_000] ?? 0
}
