import { parsedObject } from '../../engine/kit.ts'
import { startGateway } from '../support/gateway.ts'

// npm run bench:classify: how long the stage `classify` takes while many requests for `auto` are served at once, as the
// rows of the log tell.

const asked = 4_000
const together = 20
const sentences = [
  'How many legs has a spider?',
  'Prove that there are infinitely many primes, and explain each step of the proof.',
  'Write a function that merges two sorted lists, with tests for empty lists and equal values.',
]

const price = (input: number) => ({ input, output: 4 * input })
const gateway = await startGateway({
  providers: [{ name: 'far', type: 'echo' }],
  models: ['economy', 'balanced', 'premium'].map((quality_tier, index) => {
    return { name: quality_tier, provider: 'far', quality_tier, auto_eligible: true, pricing: price(10 ** index / 10) }
  }),
  server_config: { smart_routing: { enabled: true } },
})
for (let first = 0; first < asked; first += together)
  await Promise.all(
    Array.from({ length: together }, async (_, index) => {
      const content = `${sentences[index % sentences.length]} `.repeat(7).slice(0, 545)
      await (
        await gateway.post('/v1/chat/completions', { model: 'auto', messages: [{ role: 'user', content }] })
      ).text()
    }),
  )
const rows = await gateway.rows(asked)
/** Microseconds of the stage in each row, without those of the first requests, for which code is compiled. */
const times = rows
  .slice(asked / 8)
  .flatMap(({ metadata }) => (parsedObject(metadata)?.['laps'] ?? []) as readonly (readonly [string, number, number])[])
  .filter(([name]) => name.endsWith('/classify'))
  .map(([, , microseconds]) => microseconds)
  .sort((one, other) => one - other)
const at = (share: number) => times[Math.floor(share * times.length)]
console.log(`classify, ${times.length} requests, ${together} at once: p50 ${at(0.5)} µs, p99 ${at(0.99)} µs`)
await gateway.close()
