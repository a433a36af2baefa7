import { WorkerPool } from '../../engine/workers/pool.ts'
import { asText, moduleBeside, parsedObject } from '../../engine/kit.ts'
import { clean } from '../../plugins/classification/clean.ts'
import structural from '../../plugins/classification/structural.ts'
import { startGateway } from '../support/gateway.ts'

// npm run bench:classify: what a classification takes of the event loop, there and in a thread, and how long the stage
// `classify` takes while many requests for `auto` are served at once, as the rows of the log tell.

const asked = 2_000
const together = 20
const sizes = [545, 6_000]
const sentences = [
  'How many legs has a spider?',
  'Prove that there are infinitely many primes, and explain each step of the proof.',
  'Write a function that merges two sorted lists, with tests for empty lists and equal values.',
]
const textOf = (index: number, size: number) =>
  sentences
    .map((_, at) => sentences[(index + at) % sentences.length])
    .join(' ')
    .concat(' ')
    .repeat(Math.ceil(size / 150))
    .slice(0, size)

await compareThreads()
await serve()

/** The time of the event loop's thread, in microseconds: the least of five rounds, as other work only adds to it. */
async function compareThreads(): Promise<void> {
  const pool = new WorkerPool({ threads: 1 })
  const module = moduleBeside('structural', new URL('../../plugins/classification/index.ts', import.meta.url).href)
  await pool.run(module, { text: 'warm', facts: {} }, 60_000)
  const taken = async (run: (index: number) => unknown, runs = 2_000) => {
    let least = Infinity
    for (let round = 0; round < 5; round++) {
      const before = process.threadCpuUsage()
      for (let index = 0; index < runs; index++) await run(index)
      const { user, system } = process.threadCpuUsage(before)
      least = Math.min(least, (user + system) / runs)
    }
    return least.toFixed(1)
  }
  console.log('| characters | cleaned | judged on the loop | passed to a thread |\n|---|---|---|---|')
  for (const size of [100, 545, 1_200, 2_000, 6_000, 100_000]) {
    const said = Array.from({ length: 50 }, (_, index) => textOf(index, size))
    const texts = said.map((text) => clean(text).text)
    const columns = [
      await taken((index) => clean(said[index % 50] ?? '')),
      await taken((index) => structural({ text: texts[index % 50] ?? '' })),
      await taken((index) => pool.run(module, { text: texts[index % 50], facts: {} }, 60_000)),
    ]
    console.log(`| ${[size, ...columns].join(' | ')} |`)
  }
  await pool.close()
  console.log('\n| 100,000 characters of | cleaned |\n|---|---|')
  for (const piece of ['a\n\n', 'a\n', '> a\n\n', '~~~\n\n', '<', '\n<task>\n', '</', ', ', '\u200b']) {
    const text = piece.repeat(Math.ceil(100_000 / piece.length))
    console.log(`| \`${JSON.stringify(piece)}\` | ${await taken(() => clean(text), 100)} |`)
  }
}

async function serve(): Promise<void> {
  const price = (input: number) => ({ input, output: 4 * input })
  const gateway = await startGateway({
    providers: [{ name: 'far', type: 'echo' }],
    models: ['economy', 'balanced', 'premium'].map((quality_tier, index) => {
      return {
        name: quality_tier,
        provider: 'far',
        quality_tier,
        auto_eligible: true,
        pricing: price(10 ** index / 10),
      }
    }),
    server_config: { smart_routing: { enabled: true } },
  })
  for (const [at, size] of sizes.entries()) {
    for (let first = 0; first < asked; first += together)
      await Promise.all(
        Array.from({ length: together }, async (_, index) => {
          const messages = [{ role: 'user', content: textOf(index, size) }]
          await (await gateway.post('/v1/chat/completions', { model: 'auto', messages })).text()
        }),
      )
    const rows = (await gateway.rows(asked * (at + 1))).slice(asked * at)
    const metadata = rows.map((row) => parsedObject(row.metadata) ?? {})
    /** Microseconds of the stage in each row, without those of the first requests, for which code is compiled. */
    const times = metadata
      .slice(asked / 8)
      .flatMap(({ laps }) => (laps ?? []) as readonly (readonly [string, number, number])[])
      .filter(([name]) => name.endsWith('/classify'))
      .map(([, , microseconds]) => microseconds)
      .sort((one, other) => one - other)
    const share = (part: number) => times[Math.floor(part * times.length)]
    const late = metadata.filter(({ routing_reasoning: why }) => asText(why).includes('structural=late')).length
    console.log(
      `classify, ${size} characters, ${together} at once: p50 ${share(0.5)} µs, p99 ${share(0.99)} µs, ${late} of ${asked} late`,
    )
  }
  await gateway.close()
}
